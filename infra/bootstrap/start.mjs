// `npm start`: makes everything ready, then becomes `packhouse local`.
//
// The command line is run in this very process, not in a child: signals, exit codes and a kill mean one process.
import { endWithNpm, prepare, root } from './prepare.mjs';

await prepare();
endWithNpm();
process.argv = [process.execPath, `${root}apps/cli/dist/main.js`, 'local', ...process.argv.slice(2)];
await import(new URL('../../apps/cli/dist/main.js', import.meta.url).href);
