import { createDatabase, type Database, type KeyRow } from '@packhouse/database';
import { type FreshDatabase, freshDatabase } from '@packhouse/local';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createLocalRateLimiter } from './local-rate-limiter.js';
import type { RateLimiter, RateVerdict } from './rate-limiter.js';

const WITHIN = { timeout: 60_000, interval: 50 };

describe('daily quotas without Redis', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let context: Context;
  const open: RateLimiter[] = [];
  const lines: string[] = [];

  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    context = {
      logger: createLogger({
        name: 'test',
        level: 'debug',
        destination: { write: (line) => void lines.push(line) },
      }),
      metrics: createMetrics(),
      clock: systemClock,
      signal: new AbortController().signal,
    };
    database = createDatabase({ connectionString: fresh.url, context, applicationName: 'usage test' });
  });
  afterAll(async () => {
    await Promise.all(open.map((limiter) => limiter.close()));
    await database.close();
    await fresh.drop();
  });

  const begin = (keys: Pick<Database['keys'], 'use' | 'forgetUses'> = database.keys): RateLimiter => {
    const limiter = createLocalRateLimiter(systemClock, { keys, logger: context.logger });
    open.push(limiter);
    return limiter;
  };
  const key = (id: number) =>
    ({
      id,
      plan: { name: 'p', maxBlock: null, requestsPerSecond: 1_000_000, requestsPerDay: 10 },
    }) as KeyRow;
  const take = (limiter: RateLimiter, id: number, cost = 1) => limiter.take(key(id), cost) as RateVerdict;

  it('are shared by gateways within a second', async () => {
    const [one, two] = [begin(), begin()];
    for (let n = 0; n < 9; n++) expect(take(one, 1).allowed).toBe(true);
    expect(take(two, 1)).toMatchObject({ allowed: true, remaining: 9 });
    await vi.waitFor(() => {
      for (const limiter of [one, two]) {
        expect(take(limiter, 1, 0)).toMatchObject({ window: 'day', remaining: 0 });
      }
    }, WITHIN);
    expect(take(one, 1)).toMatchObject({ allowed: false, window: 'day', limit: 10 });
    expect(take(two, 1)).toMatchObject({ allowed: false, window: 'day', limit: 10 });
  });

  it('outlive the gateway that counted', async () => {
    const before = begin();
    for (let n = 0; n < 10; n++) take(before, 2);
    await before.close();
    const after = begin();
    expect(take(after, 2).allowed).toBe(true);
    await vi.waitFor(() => expect(take(after, 2, 0).remaining).toBe(0), WITHIN);
    expect(take(after, 2).allowed).toBe(false);
  });

  it('are counted alone while Postgres is away, and told when it is back', async () => {
    let away = true;
    const limiter = begin({
      use: async (day, uses) => {
        if (away) throw new Error('the database is away');
        return database.keys.use(day, uses);
      },
      forgetUses: database.keys.forgetUses,
    });
    for (let n = 0; n < 4; n++) expect(take(limiter, 3).allowed).toBe(true);
    await vi.waitFor(() => expect(lines.join('')).toContain('could not be shared'), WITHIN);
    expect(take(limiter, 3)).toMatchObject({ allowed: true, remaining: 5 });
    away = false;
    const day = Math.floor(Date.now() / 86_400_000);
    await vi.waitFor(async () => {
      expect(await database.keys.use(day, [{ keyId: 3, requests: 0 }])).toEqual(new Map([[3, 5]]));
    }, WITHIN);
  });
});
