import { redisInstalled } from '@packhouse/local';
import { describe, expect, test } from 'vitest';
import { simulate } from './run/simulate.js';

// Real processes on a real Postgres: a run takes half a minute, and several times that on a busy machine.
const RUN_MS = 400_000;

describe('invariants 1, 2, 3, 4, 5, 6, 7, 8, 9 and 13 hold after faults at every port', () => {
  // npm run nightly, which sets TESTS=all, has schedules that are longer.
  test('seed 2061: backends terminated, the queue wiped, locks lost, reorganisations', {
    timeout: RUN_MS,
  }, async () => {
    await expectWell(2061, 14, 'postgres');
  });

  test.runIf(process.env.TESTS === 'all')(
    "seed 1344: the queue's tables dropped, a connection cut after a statement, a kill (needs npm run test:all)",
    { timeout: RUN_MS },
    async () => {
      await expectWell(1344, 14, 'postgres');
    },
  );

  test.runIf(process.env.TESTS === 'all' && redisInstalled())(
    'seed 1114: queues on Redis (needs npm run test:all and redis-server)',
    { timeout: RUN_MS },
    async () => {
      await expectWell(1114, 14, 'redis');
    },
  );
});

async function expectWell(seed: number, steps: number, queue: 'postgres' | 'redis'): Promise<void> {
  const { verdicts, bundles, downloads, directory } = await simulate({ seed, steps, queue });
  const violated = verdicts.filter(({ violations }) => violations.length > 0);
  expect(
    violated,
    `logs in ${directory}; repeat with npm run simulate -- --seed ${seed} --steps ${steps}`,
  ).toEqual([]);
  expect(verdicts.map(({ invariant }) => invariant)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 4, 3, 13, 13, 5, 1,
  ]);
  expect(verdicts.filter(({ checked }) => checked === 0).map(({ title }) => title)).toEqual([]);
  expect(bundles).toBeGreaterThan(0);
  expect(downloads.files).toBeGreaterThan(0);
}
