import { createDatabase, type Database } from '@packhouse/database';
import { freshDatabase, redisInstalled, startRedis } from '@packhouse/local';
import { createRedisLeases, createSpending, type LeaseStore } from '@packhouse/node-rpc';
import { type Context, createLogger, createMetrics, openScope, systemClock } from '@packhouse/runtime';
import { afterEach, describe, expect, inject, test } from 'vitest';

const PER_DAY = 300;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

const context: Context = {
  logger: createLogger({ name: 'test', level: 'silent' }),
  metrics: createMetrics(),
  clock: systemClock,
  signal: openScope().signal,
};
const budget = {
  provider: 'p',
  unit: 'requests' as const,
  weights: {},
  reserve: 0.1,
  pricePerMillion: null,
  currency: null,
  perSecond: null,
  perDay: PER_DAY,
  perMonth: null,
};

async function freshTables(): Promise<() => Database> {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  closers.push(() => fresh.drop());
  return () => {
    const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
    closers.push(() => database.close());
    return database;
  };
}

/** Four processes that fetch blocks in batches, and two that forward calls, each with its own connections. */
async function drain(open: () => Database, getLeases: (database: Database) => LeaseStore) {
  await open().budgets.change('p', () => budget, 'test');
  const signal = openScope().signal;
  const clients = await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async () => {
      const database = open();
      const spending = await createSpending({
        context,
        table: database.spending,
        budgets: database.budgets,
        leases: getLeases(database),
      });
      closers.push(() => spending.close());
      return spending.of('main', { name: 'node', provider: 'p' });
    }),
  );
  const take = async (client: (typeof clients)[number], calls: number, use: 'backfill' | 'urgent') => {
    for (let sum = 0; ; ) {
      const granted = await Promise.resolve(client.take('eth_call', calls, use, signal)).catch(() => null);
      if (granted === null) return sum;
      sum += granted;
    }
  };
  const sums = async (some: typeof clients, calls: number, use: 'backfill' | 'urgent'): Promise<number> =>
    (await Promise.all(some.map((client) => take(client, calls, use)))).reduce((all, sum) => all + sum, 0);
  return {
    backfills: await sums(clients.slice(0, 4), 7, 'backfill'),
    calls: await sums(clients.slice(4), 1, 'urgent'),
    last: clients[5],
  };
}

describe('a budget of six processes is used to its end and not beyond', () => {
  test('in Postgres', async () => {
    const { backfills, calls } = await drain(await freshTables(), ({ budgets }) => budgets);
    expect({ backfills, calls }).toEqual({ backfills: 270, calls: 30 });
  });

  test.skipIf(!redisInstalled())(
    'in Redis, without which nothing is asked (needs redis-server)',
    async () => {
      const redis = await startRedis();
      closers.push(() => redis.stop());
      const { backfills, calls, last } = await drain(await freshTables(), () => {
        const leases = createRedisLeases(redis.url);
        closers.push(() => leases.close());
        return leases;
      });
      expect({ backfills, calls }).toEqual({ backfills: 270, calls: 30 });
      expect(last?.refusal('urgent')?.error).toMatchObject({ code: 'BUDGET_EXHAUSTED' });
      await redis.stop();
      const database = (await freshTables())();
      await database.budgets.change('p', () => budget, 'test');
      const leases = createRedisLeases(redis.url);
      closers.push(() => leases.close());
      const spending = await createSpending({
        context,
        table: database.spending,
        budgets: database.budgets,
        leases,
      });
      closers.push(() => spending.close());
      const upstream = spending.of('main', { name: 'node', provider: 'p' });
      await expect(upstream.take('eth_call', 1, 'urgent', openScope().signal)).rejects.toMatchObject({
        code: 'BUDGET_UNAVAILABLE',
      });
    },
  );
});
