import { redisInstalled, startRedis } from '@packhouse/local';
import { createRedisLeases, createSpending, type LeaseStore } from '@packhouse/node-rpc';
import { CallController, type Context } from '@packhouse/runtime';
import type { BenchOptions } from './options.js';
import { openPlace } from './place.js';
import type { BenchOutcome } from './result.js';

const PER_SECOND = 200;
const PER_DAY = 2_000;
const RUN_MS = 10_000;
/** Those that fetch blocks in batches, and those that forward calls one by one. */
const INGESTERS = 4;
const GATEWAYS = 2;

/** One budget of a provider, taken by six clients at once: how much of it gets through, and how much more than it says. */
export async function benchBudgets({ scope, say }: BenchOptions): Promise<BenchOutcome[]> {
  const place = await openPlace(scope);
  const stores: [string, () => LeaseStore][] = [['Postgres', () => place.database.budgets]];
  if (redisInstalled()) {
    const redis = await startRedis();
    scope.defer(() => redis.stop());
    stores.push([
      'Redis',
      () => {
        const leases = createRedisLeases(redis.url);
        scope.defer(async () => leases.close());
        return leases;
      },
    ]);
  }
  const outcomes: BenchOutcome[] = [];
  for (const [name, open] of stores) {
    say(`  a second of ${PER_SECOND} on ${name} …`);
    const seconds = await run(place.context, open, { perSecond: PER_SECOND, perDay: null }, 'second', RUN_MS);
    const most = mostWithin(seconds, 1_000);
    // Between the beginnings of the first and the last whole window: a run that ends after a burst would say more.
    const whole = Math.floor((seconds.length - 1) / PER_SECOND) * PER_SECOND;
    const tookMs = (seconds[whole] as number) - (seconds[0] as number);
    const used = whole / PER_SECOND / (tookMs / 1_000);
    say(`  a day of ${PER_DAY} on ${name} …`);
    const day = await run(place.context, open, { perSecond: null, perDay: PER_DAY }, 'day', RUN_MS);
    const percent = (share: number): number => Math.round(share * 10_000) / 100;
    outcomes.push(
      ...(
        [
          ['most in any second', percent(most / PER_SECOND), 'at most 101 %', most <= PER_SECOND * 1.01],
          ['used of a second', percent(used), 'at least 95 %', used >= 0.95],
          ['used of a day', percent(day.length / PER_DAY), '100 %', day.length === PER_DAY],
        ] as const
      ).map(([what, value, target, met]) => ({
        name: `budgets: ${what}, ${name}`,
        value,
        unit: '%',
        target,
        met,
      })),
    );
  }
  return outcomes;
}

/** When each request was let through, in milliseconds. */
async function run(
  context: Context,
  open: () => LeaseStore,
  limits: { perSecond: number | null; perDay: number | null },
  provider: string,
  forMs: number,
): Promise<number[]> {
  const budget = { provider, unit: 'requests', weights: {}, perMonth: null, reserve: 0, ...limits } as const;
  const sent: number[] = [];
  const stop = new CallController();
  const beganAt = performance.now();
  const clients = Array.from({ length: INGESTERS + GATEWAYS }, async (_, index) => {
    const spending = await createSpending({
      context,
      table: { add: async () => undefined, upstreams: async () => [], forget: async () => undefined },
      budgets: { list: async () => [budget] },
      leases: open(),
    });
    const upstream = spending.of('bench', { name: 'node', provider });
    const [calls, use] = index < INGESTERS ? ([10, 'backfill'] as const) : ([1, 'urgent'] as const);
    const loop = async (): Promise<void> => {
      while (performance.now() - beganAt < forMs) {
        const granted = await upstream.take('eth_getBlockByNumber', calls, use, stop);
        const now = performance.now();
        for (let each = 0; each < granted; each++) sent.push(now);
      }
    };
    // A budget that is used up, or the end of the run, ends a loop.
    await Promise.allSettled(Array.from({ length: 16 }, loop));
    await spending.close();
  });
  const timer = setTimeout(() => stop.abort(new Error('the run is over')), forMs);
  await Promise.all(clients);
  clearTimeout(timer);
  return sent.filter((at) => at - beganAt < forMs);
}

function mostWithin(times: readonly number[], ms: number): number {
  let most = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    while ((times[last] as number) - (times[first] as number) >= ms) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
