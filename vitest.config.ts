import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/**
 * Files that keep one of the workers busy for a minute or more. They begin first: without it a fresh clone, which
 * knows no durations yet, would begin them last and wait for them with one worker.
 */
const LONG = [
  'test/simulation/src/simulation.test.ts',
  'test/kill/src/kill.test.ts',
  'test/e2e/src/outages.test.ts',
  'test/e2e/src/pull.test.ts',
  'test/e2e/src/reorganisations.test.ts',
  'test/e2e/src/services.test.ts',
];

/**
 * Files of `npm run nightly`, or when they are named: half a minute or more each, of what changes seldom or what another
 * file tries with fewer cases.
 */
const NIGHTLY = [
  'apps/cli/src/slow-reader.test.ts',
  'infra/local/src/postgres/postgres.test.ts',
  'packages/object-store/src/s3-servers.test.ts',
  'packages/pipeline/src/{adopt/promotion,audit/real-blocks,false-sender,lake/{bad-days,lake-control},self-healing}.test.ts',
  'test/attack/src/attack.test.ts',
  'test/browser/src/{access,start,widths}.test.ts',
  'test/e2e/src/{drain,forks,odd-environments,once,one-process,rolling-start,starts,tarballs}.test.ts',
  'test/e2e/src/lake/engines.test.ts',
  'test/fuzz/src/{made,real}-blocks.test.ts',
  'test/replay-node/src/extend-chain.test.ts',
];
const isNamed = process.argv.some((each) => each.endsWith('.test.ts'));
const later = process.env.TESTS === 'all' || isNamed ? [] : NIGHTLY;

class LongFilesFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]) {
    const rank = ({ moduleId }: (typeof files)[number]): number => {
      const at = LONG.findIndex((path) => moduleId.endsWith(path));
      return at === -1 ? LONG.length : at;
    };
    // Sorting is stable: all others stay in the order that vitest chose.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Rooms whose files share no state: they are tested in one process, which imports their modules once. */
const SHARED = [
  ...[
    'packages/{bundle,chain,json,kernels,manifest,networks,nft,node-rpc}',
    'test/{architecture,fuzz,recordings,replay-node}',
  ].map((folder) => `${folder}/src/**/*.test.ts`),
  'apps/console/web/src/**/*.test.ts',
  // All but the one that needs Postgres, which is started for the others only.
  'packages/client/src/**/!(postgres-sink).test.ts',
];

/** Rooms whose files share no state but Postgres, in which each has databases of its own. */
const SHARED_WITH_POSTGRES = [
  // All but the one that sets the tracer of its process, which modules read when they are imported.
  'apps/gateway/src/**/!(watching).test.ts',
  // All but those that listen to events of their process or change its environment.
  'apps/{cli,console,ingester,packer}/src/**/!(run-schedule|supervise|uncaught-error).test.ts',
  'packages/operations/src/**/*.test.ts',
  'test/{clients,e2e}/src/**/*.test.ts',
  'packages/{database,pipeline}/src/**/*.test.ts',
];
const POSTGRES = ['infra/local/src/test-services.ts'];

// Packages are tested from their sources (the export condition `@packhouse/source`); only spawned processes need the build.
// Nothing but that may be added here: vitest hands these conditions to Node, and `import` would break `require`.
export default defineConfig({
  resolve: { conditions: ['@packhouse/source'] },
  ssr: {
    resolve: {
      conditions: ['@packhouse/source', 'node', 'development|production'],
      externalConditions: ['@packhouse/source'],
    },
  },
  test: {
    // How long something takes is the machine's affair: only what never comes fails.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Only if the tests run on another day: see infra/bootstrap/other-days.mjs.
    setupFiles:
      process.env.FAKETIME_TIMESTAMP_FILE === undefined ? [] : ['infra/bootstrap/other-days/set-clock.mjs'],
    expect: { poll: { timeout: 120_000, interval: 20 } },
    pool: 'forks',
    // Many tests wait most of their time: two workers would leave two cores idle now and then.
    maxWorkers: 3,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      { extends: true, test: { name: 'shared', include: SHARED, exclude: later, isolate: false } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: SHARED_WITH_POSTGRES,
          exclude: later,
          isolate: false,
          globalSetup: POSTGRES,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['{packages,apps,infra,test}/*/src/**/*.test.ts'],
          exclude: [...SHARED, ...SHARED_WITH_POSTGRES, ...later],
          globalSetup: POSTGRES,
        },
      },
    ],
  },
});
