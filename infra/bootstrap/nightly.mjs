// `npm run nightly [-- --seed N]`: runs the suites that are too long for every change, one after the other.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findFaketime } from './other-days/clock-file.mjs';
import { prepare, root, runChild } from './prepare.mjs';
import { installTestPrograms, programs } from './test-programs.mjs';

const HELP = `Runs the longer suites: the fuzz, the simulation with new seeds, the kill test, the longer tests, the partitions, the
image, the tests beside programs of others, and the tests on other days.

  npm run nightly [-- --seed N]

  --seed N  the first of the seeds (default: the number of today, so that every night has others)

Ends with one line, \`N passed, N failed\`, with \`, N skipped\` if a suite cannot run on this machine.
`;

const DAY_MS = 86_400_000;
/** Schedules of the simulation. */
const SCHEDULES = 3;

const values = readArguments();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const seed = Number(values.seed ?? Math.floor(Date.now() / DAY_MS));
if (!Number.isSafeInteger(seed) || seed < 1)
  giveUp(`--seed takes a whole number above 0, got "${values.seed}".`);
const linux = process.platform === 'linux';
const simulation = 'test/simulation/dist/main.js';
/** `skip`: why it cannot run here. */
const SUITES = [
  {
    name: 'fuzz',
    args: ['test/fuzz/dist/main.js', '--minutes', '5', '--seed', String(seed)],
  },
  ...Array.from({ length: SCHEDULES }, (_, index) => ({
    name: `simulation of seed ${seed * SCHEDULES + index}`,
    args: [simulation, '--seed', String(seed * SCHEDULES + index), '--steps', '60'],
  })),
  {
    name: 'kill test',
    args: ['test/kill/dist/main.js', '--kills', '20', '--seed', String(seed)],
    skip: linux ? undefined : 'it needs Linux',
  },
  {
    name: 'longer tests',
    args: [
      'node_modules/vitest/vitest.mjs',
      'run',
      'test/e2e',
      'test/attack',
      'test/fuzz',
      'test/browser',
      'test/replay-node',
      'test/simulation/src/simulation.test.ts',
      'infra/local/src/postgres/postgres.test.ts',
      'packages/pipeline/src/adopt/promotion.test.ts',
      'packages/pipeline/src/audit/real-blocks.test.ts',
      'packages/pipeline/src/self-healing.test.ts',
    ],
    env: { TESTS: 'all' },
  },
  {
    name: 'partitions',
    args: ['node_modules/vitest/vitest.mjs', 'run', 'test/e2e/src/partitions'],
    env: { PARTITIONS: 'all' },
    skip: linux && process.getuid() === 0 ? undefined : 'it needs root on Linux, for network namespaces',
  },
  {
    name: 'upgrade and back',
    args: ['node_modules/vitest/vitest.mjs', 'run', 'test/e2e/src/upgrade.test.ts'],
    skip:
      process.env.UPGRADE_FROM === undefined
        ? 'it needs UPGRADE_FROM, the folder of an older checkout that is built'
        : undefined,
  },
  {
    name: 'image',
    args: ['node_modules/vitest/vitest.mjs', 'run', 'test/e2e/src/image.test.ts'],
    env: { IMAGE: 'all' },
    skip:
      linux && process.getuid() === 0 && isOnPath('buildah') && isOnPath('mmdebstrap')
        ? undefined
        : 'it needs root on Linux, buildah and mmdebstrap, on Debian: apt-get install buildah mmdebstrap',
  },
  {
    name: 'programs of others',
    args: [
      'node_modules/vitest/vitest.mjs',
      'run',
      'packages/object-store/src/s3-servers.test.ts',
      'packages/node-rpc/src/blocks/trace-methods.test.ts',
      'packages/node-rpc/src/blocks/geth.test.ts',
      'test/e2e/src/geth.test.ts',
    ],
    env: { PATH: `${programs}${path.delimiter}${process.env.PATH}` },
  },
  {
    name: 'other versions of Node',
    args: ['infra/bootstrap/other-nodes.mjs'],
    skip: process.platform === 'win32' ? 'Windows is unsupported' : undefined,
  },
  {
    name: 'other days',
    args: ['infra/bootstrap/other-days.mjs', '--short'],
    skip:
      findFaketime() === undefined
        ? 'it needs libfaketime, on Debian: apt-get install libfaketime'
        : undefined,
  },
];

await prepare();
for (const name of installTestPrograms(say))
  say(`── ${name} could not be installed: the tests beside it are skipped`);
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const { name, args, env, skip } of SUITES) {
  if (skip !== undefined) {
    say(`── ${name} is skipped: ${skip}`);
    counts.skipped += 1;
    continue;
  }
  say(`── ${name}`);
  const [program, ...options] = args;
  const passed =
    (await runChild(process.execPath, [`${root}${program}`, ...options], ['ignore', 2, 2], {
      ...process.env,
      ...env,
    })) === 0;
  if (!passed) say(`── ${name} FAILED: node ${args.join(' ')}`);
  counts[passed ? 'passed' : 'failed'] += 1;
}
const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
process.exit(counts.failed === 0 ? 0 : 1);

function isOnPath(name) {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, name)));
}

function readArguments() {
  try {
    return parseArgs({ options: { seed: { type: 'string' }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    return giveUp(error.message);
  }
}

function giveUp(text) {
  say(text);
  process.exit(64);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}
