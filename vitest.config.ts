import { defineConfig } from 'vitest/config';

// Packages are tested from their sources (the `source` export condition); only spawned processes need the build.
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source', 'node', 'import', 'default'] } },
  test: {
    include: ['{packages,apps,infra,test}/*/src/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['infra/local/src/test-services.ts'],
  },
});
