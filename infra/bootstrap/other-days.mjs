// `npm run other-days [-- options]`: runs the tests at other dates, in other zones and other languages (Linux).
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findFaketime, writeOffset } from './other-days/clock-file.mjs';
import { findTimeTests, OTHER_CLOCKS } from './other-days/find-time-tests.mjs';
import { MOMENTS } from './other-days/moments.mjs';
import { prepare, root, runChild } from './prepare.mjs';
import { countTests, readReport } from './suites/report.mjs';

const HELP = `Runs the tests that touch time at other dates, in other zones and other languages.

  npm run other-days [-- [options] [moment …]]

Moments: ${MOMENTS.map(({ name }) => name).join(', ')};
without a name all of them.

  --short       only ${MOMENTS.filter(({ short }) => short)
    .map(({ name }) => name)
    .join(', ')}
  --whole       all test files, not only those that touch time
  --files LIST  only these test files, with commas between
  --list        prints the test files and runs nothing

The clock of every process, Anvil among them, is set by libfaketime; the SQL of Postgres reads the same clock. Ends with one line,
\`N passed, N failed\`; exit code 1 if a test failed.
`;

/** They use jemalloc, which waits for libfaketime for ever, as that waits for it. */
const UNSHIFTED = ['redis-server'];

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const files = values.whole ? [] : (values.files?.split(',') ?? findTimeTests(root));
if (values.list) {
  process.stdout.write(`${files.join('\n')}\n`);
  process.exit(0);
}
const library = findFaketime();
if (library === undefined) giveUp('This needs libfaketime, on Debian: apt-get install libfaketime.', 69);
const unknown = positionals.find((given) => !MOMENTS.some(({ name }) => name === given));
if (unknown !== undefined) giveUp(`There is no moment "${unknown}"; see --help.`, 64);
const moments = MOMENTS.filter(({ name, short }) =>
  positionals.length > 0 ? positionals.includes(name) : short || !values.short,
);

await prepare();
const total = { passed: 0, failed: 0 };
for (const moment of moments) {
  process.stderr.write(`── ${moment.name}: ${moment.at}, ${moment.zone}, ${moment.locale}\n`);
  const { passed, failed } = await runAt(moment);
  process.stderr.write(`── ${moment.name}: ${passed} passed, ${failed} failed\n`);
  total.passed += passed;
  total.failed += failed;
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exit(total.failed === 0 ? 0 : 1);

function readArguments() {
  const flag = { type: 'boolean', default: false };
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        short: flag,
        whole: flag,
        list: flag,
        files: { type: 'string' },
        help: { ...flag, short: 'h' },
      },
    });
  } catch (error) {
    return giveUp(error.message, 64);
  }
}

/** Runs the tests once, one file after the other: they share the clock. */
async function runAt({ at, zone, locale, crosses }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'packhouse-other-days-'));
  const clock = path.join(folder, 'clock');
  const report = path.join(folder, 'report.json');
  // initdb and Postgres run under another account.
  chmodSync(folder, 0o755);
  writeOffset(clock, Date.parse(at) - Date.now());
  const programs = makeUnshifted(path.join(folder, 'bin'));
  const vitest = `${root}node_modules/vitest/vitest.mjs`;
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const excluded = OTHER_CLOCKS.map((at) => `--exclude=${at.replace(/\/$/, '/**')}`);
  await runChild(process.execPath, [vitest, 'run', ...reporters, ...excluded, ...files], ['ignore', 2, 2], {
    ...process.env,
    PATH: `${programs}:${process.env.PATH}`,
    TZ: zone,
    LC_ALL: locale,
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clock,
    // In seconds: reading the file for each look at a clock takes ten times as long.
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    VITEST_MAX_WORKERS: '1',
    ...(crosses ? { CROSS_AT: at } : {}),
  });
  const text = readReport(report);
  rmSync(folder, { recursive: true });
  return countTests(text);
}

/** Makes a folder for PATH with the programs that keep the machine's clock, and returns it. */
function makeUnshifted(folder) {
  mkdirSync(folder);
  for (const name of UNSHIFTED) {
    const script = `#!/bin/sh\nunset LD_PRELOAD\nPATH=\${PATH#*:} exec ${name} "$@"\n`;
    writeFileSync(path.join(folder, name), script, { mode: 0o755 });
  }
  return folder;
}

function giveUp(text, code) {
  process.stderr.write(`${text}\n`);
  process.exit(code);
}
