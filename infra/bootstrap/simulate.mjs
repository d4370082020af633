// `npm run simulate [-- options]`: makes everything ready, then becomes the simulation.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
process.argv = [process.execPath, `${root}test/simulation/dist/main.js`, ...process.argv.slice(2)];
await import(new URL('../../test/simulation/dist/main.js', import.meta.url).href);
