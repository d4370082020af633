// `npm test [-- vitest options]`: makes everything ready, then runs the tests once.
import { prepare, root, runChild } from './prepare.mjs';

await prepare();
process.exit(
  await runChild(process.execPath, [
    `${root}node_modules/vitest/vitest.mjs`,
    'run',
    ...process.argv.slice(2),
  ]),
);
