// `npm run attack [-- options]`: makes everything ready, then becomes the attacks.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
process.argv = [process.execPath, `${root}test/attack/dist/main.js`, ...process.argv.slice(2)];
await import(new URL('../../test/attack/dist/main.js', import.meta.url).href);
