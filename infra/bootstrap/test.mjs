// `npm test [-- vitest options]`: makes everything ready, runs the tests once, and says what was not run.
import { prepare } from './prepare.mjs';
import { LATER, NIGHT } from './suites/files.mjs';
import { addRun, createSum, runTests, toClosingLines } from './suites/run-tests.mjs';

await prepare();
const sum = createSum();
// Where others want to read what ran.
addRun(sum, await runTests(process.argv.slice(2), { report: process.env.TEST_REPORT || undefined }));
// Everything was asked for.
if (process.argv.length === 2) {
  sum.missing.push(`${LATER.length} more files of tests: npm run test:all`);
  sum.missing.push(`${NIGHT.length} more files, more seeds and compiled counterparts: npm run nightly`);
}
for (const line of toClosingLines(sum)) process.stdout.write(`${line}\n`);
process.exit(sum.failed === 0 ? 0 : 1);
