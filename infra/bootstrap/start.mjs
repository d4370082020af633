// `npm start`: makes everything ready, then becomes `packhouse local`.
//
// The command line is run in this very process, not in a child: signals, exit codes and a kill mean one process.
import { prepare, root } from './prepare.mjs';

await prepare();
const main = `${root}apps/cli/dist/main.js`;
process.argv = [process.execPath, main, 'local', ...process.argv.slice(2)];
await import(new URL('../../apps/cli/dist/main.js', import.meta.url).href);
