// `npm run bench [-- options]`: makes everything ready, then becomes the benchmarks.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
process.argv = [process.execPath, `${root}test/bench/dist/main.js`, ...process.argv.slice(2)];
await import(new URL('../../test/bench/dist/main.js', import.meta.url).href);
