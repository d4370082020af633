import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { LATER, LONG, NIGHT } from './infra/bootstrap/suites/files.mjs';

/** A file that is named runs, whatever list it is in. */
const isNamed = process.argv.some((each) => each.endsWith('.test.ts'));
const later = isNamed ? [] : process.env.TESTS === 'all' ? NIGHT : [...LATER, ...NIGHT];

/** Each takes up to a gigabyte, and connections of the one Postgres. */
const MAX_WORKERS = 8;

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
    'packages/{bundle,chain,json,kernels,manifest,networks,nft,node-rpc,rows}',
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
  'packages/{audit,database,delivery,feed,lake,pipeline,report}/src/**/*.test.ts',
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
    // Many tests wait most of their time: as many workers as cores would leave these idle now and then.
    maxWorkers: Math.min(availableParallelism() + 1, MAX_WORKERS),
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
