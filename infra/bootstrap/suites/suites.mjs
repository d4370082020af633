// The suites beside `npm test`: `npm run test:all` runs the first list, `npm run nightly` both.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { findFaketime } from '../other-days/clock-file.mjs';

const vitest = 'node_modules/vitest/vitest.mjs';
const linux = process.platform === 'linux';
const root = linux && process.getuid() === 0;
const DAY_MS = 86_400_000;
/** Schedules of the simulation. */
const SCHEDULES = 3;

/** Where Debian keeps the programs of each version of Postgres. */
const SYSTEM_POSTGRES = '/usr/lib/postgresql';
const DATABASE_TESTS = [
  ...['schema', 'staging', 'publish', 'coverage/coverage', 'tables'].map(
    (name) => `packages/database/src/${name}`,
  ),
  'packages/queue/src/postgres-backend.test.ts',
];

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string[]} args A program of Node and its arguments.
 * @property {boolean} [counts] Whether it is vitest, whose tests are counted; else it counts as one.
 * @property {Record<string, string>} [env]
 * @property {string} [skip] Why it cannot run here, and the line that changes it.
 */

/** The suites of `npm run test:all`; `files`: the test files to run, none for all. @returns {Suite[]} */
export function listSuites(files) {
  return [
    { name: 'tests', args: [vitest, 'run', ...files], counts: true },
    ...listPostgres(),
    { name: 'types, tests included', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json'] },
    {
      name: 'types of the kernels',
      args: ['node_modules/typescript/bin/tsc', '-p', 'packages/kernels/kernel'],
    },
    { name: 'types of the pages', args: ['node_modules/typescript/bin/tsc', '-p', 'apps/console/web'] },
    { name: 'format and lint', args: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.'] },
    {
      name: 'the compiled kernels are of their sources',
      args: ['infra/bootstrap/build-kernel.mjs', '--check'],
    },
  ];
}

/** The database's tests on every Postgres that the system has. @returns {Suite[]} */
function listPostgres() {
  const versions = existsSync(SYSTEM_POSTGRES) ? readdirSync(SYSTEM_POSTGRES).sort((a, b) => a - b) : [];
  const programs = versions.map((version) => path.join(SYSTEM_POSTGRES, version, 'bin'));
  const found = programs.filter((folder) => existsSync(path.join(folder, 'initdb')));
  if (found.length === 0)
    return [{ name: "the database on the system's Postgres", args: [], skip: 'apt-get install postgresql' }];
  return found.map((folder) => ({
    name: `the database on ${folder}`,
    args: [vitest, 'run', ...DATABASE_TESTS],
    counts: true,
    env: { TEST_POSTGRES_PROGRAMS: folder },
  }));
}

/** What `npm run nightly` has beyond that; `seed`: the first of the seeds, by default the number of today. @returns {Suite[]} */
export function listNightly(seed = Math.floor(Date.now() / DAY_MS)) {
  const simulation = 'test/simulation/dist/main.js';
  return [
    { name: 'fuzz', args: ['test/fuzz/dist/main.js', '--minutes', '5', '--seed', String(seed)] },
    ...Array.from({ length: SCHEDULES }, (_, index) => ({
      name: `simulation of seed ${seed * SCHEDULES + index}`,
      args: [simulation, '--seed', String(seed * SCHEDULES + index), '--steps', '60'],
    })),
    {
      name: 'kill test',
      args: ['test/simulation/dist/kill/main.js', '--kills', '20', '--seed', String(seed)],
      skip: linux ? undefined : 'run it on Linux',
    },
    {
      name: 'partitions',
      args: [vitest, 'run', 'test/e2e/src/partitions.test.ts', 'test/e2e/src/partitions-gateway.test.ts'],
      counts: true,
      skip: root ? undefined : 'run it as root on Linux, for network namespaces',
    },
    {
      name: 'upgrade and back',
      args: [vitest, 'run', 'test/e2e/src/upgrade.test.ts'],
      counts: true,
      skip:
        process.env.UPGRADE_FROM === undefined
          ? 'UPGRADE_FROM=folder of an older checkout that is built'
          : undefined,
    },
    {
      name: 'image',
      args: [vitest, 'run', 'test/e2e/src/image.test.ts'],
      counts: true,
      skip:
        root && isOnPath('buildah') && isOnPath('mmdebstrap')
          ? undefined
          : 'as root on Debian: apt-get install buildah mmdebstrap',
    },
    {
      name: 'pictures of the console, and times of its first page',
      args: [vitest, 'run', 'test/browser/src/pictures.test.ts', 'test/browser/src/first-page.test.ts'],
      counts: true,
      env: { PICTURES: 'test/browser/screenshots', FIRST_PAGE: 'on' },
    },
    { name: 'other versions of Node', args: ['infra/bootstrap/other-nodes.mjs'] },
    {
      name: 'other days',
      args: ['infra/bootstrap/other-days.mjs', '--short'],
      skip: findFaketime() === undefined ? 'apt-get install libfaketime' : undefined,
    },
  ];
}

function isOnPath(name) {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, name)));
}
