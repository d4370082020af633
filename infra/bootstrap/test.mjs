// `npm test [-- vitest options]`: makes everything ready, runs the tests once, and says what was not run.
import { prepare } from './prepare.mjs';
import { addRun, createSum, runTests, toClosingLines } from './suites/run-tests.mjs';

await prepare();
const sum = createSum();
// Where others want to read what ran.
addRun(sum, await runTests(process.argv.slice(2), { report: process.env.TEST_REPORT || undefined }));
for (const line of toClosingLines(sum)) process.stdout.write(`${line}\n`);
process.exit(sum.failed === 0 ? 0 : 1);
