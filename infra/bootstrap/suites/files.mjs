// Which test files `npm test` runs, and in which order. vitest.config.ts reads it; docs/testing.md says how it is cut.

/**
 * Files that `npm run test:all` has beyond `npm test`: what takes long for what it finds, what changes seldom, or what
 * another file tries with fewer cases. Globs from the root.
 */
export const LATER = [
  'apps/cli/src/slow-reader.test.ts',
  'infra/local/src/postgres/postgres.test.ts',
  'packages/object-store/src/s3-servers.test.ts',
  'packages/pipeline/src/{adopt/promotion,audit/real-blocks,false-sender,lake/{bad-days,lake-control},self-healing}.test.ts',
  'test/attack/src/attack.test.ts',
  'test/browser/src/*.test.ts',
  'test/e2e/src/{coverage,drain,forks,kill-and-resume,odd-environments,once,one-process,rolling-start,starts,tarballs}.test.ts',
  'test/e2e/src/lake/engines.test.ts',
  'test/e2e/src/{geth,prometheus,units}.test.ts',
  'packages/node-rpc/src/blocks/geth.test.ts',
  'test/fuzz/src/{made,real}-blocks.test.ts',
  'test/replay-node/src/extend-chain.test.ts',
];

/** Files that suites of `npm run nightly` name (suites.mjs): they take minutes, or more than a machine with all installed has. */
export const NIGHT = [
  'test/browser/src/pictures.test.ts',
  'test/e2e/src/image.test.ts',
  'test/e2e/src/partitions-gateway.test.ts',
  'test/e2e/src/partitions.test.ts',
  'test/e2e/src/upgrade.test.ts',
];

/**
 * Files that keep one of the workers busy for half a minute or more. They begin first: a fresh clone knows no durations
 * yet, would begin them last and wait for them with one worker.
 */
export const LONG = [
  'test/simulation/src/simulation.test.ts',
  'test/e2e/src/outages.test.ts',
  'test/e2e/src/pull.test.ts',
  'test/e2e/src/reorganisations.test.ts',
  'test/e2e/src/services.test.ts',
];
