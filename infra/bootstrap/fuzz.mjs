// `npm run fuzz [-- options]`: makes everything ready, then becomes the fuzz of the scanner.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
const main = 'test/fuzz/dist/main.js';
process.argv = [process.execPath, `${root}${main}`, ...process.argv.slice(2)];
await import(new URL(`../../${main}`, import.meta.url).href);
