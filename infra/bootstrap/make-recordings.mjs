// `npm run make-recordings [-- --check]`: makes everything ready, then makes the blocks of test/recordings/blocks anew.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
const main = 'test/recordings/dist/make/main.js';
process.argv = [process.execPath, `${root}${main}`, ...process.argv.slice(2)];
await import(new URL(`../../${main}`, import.meta.url).href);
