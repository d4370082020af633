// `npm run record -- --rpc URL [options]`: makes everything ready, then becomes the program that records blocks.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
const main = 'test/recordings/dist/record/main.js';
process.argv = [process.execPath, `${root}${main}`, ...process.argv.slice(2)];
await import(new URL(`../../${main}`, import.meta.url).href);
