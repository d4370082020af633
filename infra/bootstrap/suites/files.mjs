// Which test files `npm test` runs. vitest.config.ts reads it; docs/testing.md says how it is cut.

/**
 * Files that `npm run test:all` has beyond `npm test`: what takes long for what it finds, what changes seldom, what another
 * file tries with fewer cases, and what needs programs that few machines have.
 */
export const LATER = [
  'apps/cli/src/slow-reader.test.ts',
  'apps/gateway/src/access/connect-redis.test.ts',
  'apps/gateway/src/access/shared-seconds.test.ts',
  'infra/local/src/postgres/postgres.test.ts',
  'infra/local/src/redis.test.ts',
  'packages/audit/src/adopt/promotion.test.ts',
  'packages/audit/src/audit/real-blocks.test.ts',
  'packages/audit/src/false-sender.test.ts',
  'packages/chain/src/odd-receipts.test.ts',
  'packages/client/src/sinks/duckdb-sink.test.ts',
  'packages/client/src/sinks/folder-readers.test.ts',
  'packages/database/src/schema/check-server.test.ts',
  'packages/feed/src/changes.test.ts',
  'packages/lake/src/writer/bad-days.test.ts',
  'packages/lake/src/writer/lake-control.test.ts',
  'packages/node-rpc/src/blocks/geth.test.ts',
  'packages/object-store/src/s3-servers.test.ts',
  'packages/pipeline/src/self-healing.test.ts',
  'packages/queue/src/redis-makes.test.ts',
  'test/attack/src/attack.test.ts',
  'test/bench/src/evm-dump.test.ts',
  'test/browser/src/access.test.ts',
  'test/browser/src/bad-days.test.ts',
  'test/browser/src/console.test.ts',
  'test/browser/src/every-button.test.ts',
  'test/browser/src/first-page.test.ts',
  'test/browser/src/five-jobs.test.ts',
  'test/browser/src/history.test.ts',
  'test/browser/src/long-lists.test.ts',
  'test/browser/src/start.test.ts',
  'test/browser/src/steering.test.ts',
  'test/browser/src/story.test.ts',
  'test/browser/src/widths.test.ts',
  'test/clients/src/ckb.test.ts',
  'test/clients/src/conflux.test.ts',
  'test/clients/src/web3.test.ts',
  'test/e2e/src/audit.test.ts',
  'test/e2e/src/coverage.test.ts',
  'test/e2e/src/downloads-page.test.ts',
  'test/e2e/src/drain.test.ts',
  'test/e2e/src/follow.test.ts',
  'test/e2e/src/forks.test.ts',
  'test/e2e/src/full-disk.test.ts',
  'test/e2e/src/geth.test.ts',
  'test/e2e/src/kill-and-resume.test.ts',
  'test/e2e/src/lake/engines.test.ts',
  'test/e2e/src/links.test.ts',
  'test/e2e/src/manifest.test.ts',
  'test/e2e/src/odd-environments.test.ts',
  'test/e2e/src/once.test.ts',
  'test/e2e/src/one-process.test.ts',
  'test/e2e/src/operating-page.test.ts',
  'test/e2e/src/outages.test.ts',
  'test/e2e/src/pgbouncer.test.ts',
  'test/e2e/src/prometheus.test.ts',
  'test/e2e/src/rolling-start.test.ts',
  'test/e2e/src/services.test.ts',
  'test/e2e/src/starts.test.ts',
  'test/e2e/src/tarballs.test.ts',
  'test/e2e/src/two-gateways.test.ts',
  'test/e2e/src/units.test.ts',
  'test/fuzz/src/made-blocks.test.ts',
  'test/fuzz/src/real-blocks.test.ts',
  'test/recordings/src/make/make.test.ts',
  'test/replay-node/src/extend-chain.test.ts',
  'test/simulation/src/kill/kill.test.ts',
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
 * Files that keep one of the workers busy for long. They begin first: a fresh clone knows no durations yet, would begin
 * them last and wait for them with one worker.
 */
export const LONG = [
  'test/simulation/src/simulation.test.ts',
  'test/e2e/src/demo.test.ts',
  'test/e2e/src/pull.test.ts',
  'test/e2e/src/reorganisations.test.ts',
  'apps/gateway/src/main.test.ts',
];
