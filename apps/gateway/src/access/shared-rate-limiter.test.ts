import type { KeyRow } from '@packhouse/database';
import { type LocalRedis, redisInstalled, startRedis } from '@packhouse/local';
import { createLogger } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectRedis } from './connect-redis.js';
import { createSharedRateLimiter } from './shared-rate-limiter.js';

const WAIT = { timeout: 120_000 };
const context = { logger: createLogger({ name: 'test', level: 'silent' }) };
const key = (id: number, requestsPerDay: number | null = null) =>
  ({
    id,
    plan: { name: 'free', maxBlock: null, requestsPerSecond: 1_000, requestsPerDay },
  }) as KeyRow;

describe.skipIf(!redisInstalled())('the rate limiter on Redis (needs redis-server)', () => {
  let redis: LocalRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it('counts for all gateways together, and for each alone while Redis is away', async () => {
    const connections = [connectRedis(redis.url, context), connectRedis(redis.url, context)];
    const limiters = connections.map(createSharedRateLimiter);
    await vi.waitFor(() => expect(connections.map((each) => each.status)).toEqual(['ready', 'ready']), WAIT);
    const take = async (gateway: number) => (await limiters[gateway]?.take(key(1, 3)))?.allowed;
    expect([await take(0), await take(1), await take(0), await take(1), await take(0)]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(await limiters[0]?.take(key(1, 3))).toMatchObject({ window: 'day', limit: 3, remaining: 0 });
    expect(await limiters[1]?.left(key(1, 3))).toMatchObject({ window: 'day', limit: 3, remaining: 0 });
    expect(await limiters[1]?.left(key(2, 3))).toMatchObject({ window: 'day', remaining: 3 });
    expect(await limiters[0]?.take(key(2, 3))).toMatchObject({ remaining: 2 });

    await redis.stop();
    await vi.waitFor(() => expect(connections.map((each) => each.status)).not.toContain('ready'), WAIT);
    expect([await take(0), await take(0), await take(0), await take(0)]).toEqual([true, true, true, false]);
    expect(await take(1)).toBe(true);
    await Promise.all(limiters.map((each) => each.close()));
  });
});
