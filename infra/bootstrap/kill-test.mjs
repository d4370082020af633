// `npm run kill-test [-- options]`: makes everything ready, then becomes the kill test.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
process.argv = [process.execPath, `${root}test/simulation/dist/kill/main.js`, ...process.argv.slice(2)];
await import(new URL('../../test/simulation/dist/kill/main.js', import.meta.url).href);
