// `npm run test:all` and `npm run nightly`: everything that this machine can run, one suite after the other.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, root } from './prepare.mjs';
import { NIGHT } from './suites/files.mjs';
import { listWhole, readReport } from './suites/report.mjs';
import { runSuites } from './suites/run-suites.mjs';
import { addRun, createSum, toClosingLines } from './suites/run-tests.mjs';
import { listNightly, listSuites } from './suites/suites.mjs';
import { listParts, listTests, readSources } from './suites/test-parts.mjs';
import { installTestPrograms, programs } from './test-programs.mjs';

const HELP = `Runs every test that this machine can run, on all that is installed: Redis, a browser, versions of Postgres,
PgBouncer, engines that read the lake. Then types, format, and the compiled kernels.

  npm run test:all [-- --after REPORT]
  npm run nightly [-- --seed N]

  --after REPORT  a report of npm test (TEST_REPORT=file npm test): leaves out the files that passed there whole, and
                  counts what it counted. Files that read recordings are run again if RECORDINGS is set.
  --nightly       also many seeds, and programs of others that have to be compiled: geth, S3 servers, engines
  --seed N        the first of the seeds of the night (default: the number of today, so that every night has others)

Ends with what was not run and the lines that change it, then with one line, \`N passed, N failed[, N skipped]\`.
`;

const values = readArguments();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const seed = values.seed === undefined ? undefined : Number(values.seed);
if (seed !== undefined && (!Number.isSafeInteger(seed) || seed < 1))
  giveUp(`--seed takes a whole number above 0, got "${values.seed}".`);
const sum = createSum();
const before = values.after === undefined ? undefined : readReport(values.after);
if (before === '') giveUp(`--after takes a report of npm test, got "${values.after}".`);

await prepare();
const env = { ...process.env, TESTS: 'all' };
const suites = listSuites(before === undefined ? [] : listLeft(before));
if (values.nightly) {
  for (const name of installTestPrograms(say)) sum.missing.push(`${name}: it could not be installed`);
  env.PATH = `${programs}${path.delimiter}${env.PATH}`;
  env.SEEDS = 'many';
  suites.push(...listNightly(seed));
}
if (before !== undefined) addRun(sum, before);
// What was skipped there is run now if this machine can, and said now if it cannot.
if (before !== undefined) Object.assign(sum, { skipped: 0, needs: new Map() });
await runSuites(suites, sum, { env, say });
for (const line of toClosingLines(sum)) process.stdout.write(`${line}\n`);
process.exit(sum.failed === 0 ? 0 : 1);

/** The test files that a run left out, skipped in part or failed, and those that recordings give more blocks to. */
function listLeft(report) {
  const names = listWhole(report);
  // The report may be of a clone elsewhere.
  const isWhole = (test) => names.some((name) => name.endsWith(`/${test}`));
  const sources = readSources(root);
  const readsRecordings = (test) =>
    listParts(test, sources).some((file) => sources.get(file).includes("'@packhouse/recordings'"));
  const again = process.env.RECORDINGS ? readsRecordings : () => false;
  return listTests(sources)
    .filter((test) => !NIGHT.includes(test))
    .filter((test) => !isWhole(test) || again(test));
}

function readArguments() {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  try {
    return parseArgs({ options: { after: text, seed: text, nightly: flag, help: { ...flag, short: 'h' } } })
      .values;
  } catch (error) {
    return giveUp(error.message);
  }
}

function giveUp(reason) {
  say(reason);
  process.exit(64);
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
