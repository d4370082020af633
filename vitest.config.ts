import { defineConfig } from 'vitest/config';

// Packages are tested from their sources (the `source` export condition); only spawned processes need the build.
// Nothing but `source` may be added here: vitest hands these conditions to Node, and `import` would break `require`.
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: {
    resolve: { conditions: ['source', 'node', 'development|production'], externalConditions: ['source'] },
  },
  test: {
    include: ['{packages,apps,infra,test}/*/src/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['infra/local/src/test-services.ts'],
  },
});
