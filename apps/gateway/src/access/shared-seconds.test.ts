import { type LocalRedis, redisInstalled, startRedis } from '@packhouse/local';
import { createLogger } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectRedis } from './connect-redis.js';
import { createSharedSeconds } from './shared-seconds.js';

const WAIT = { timeout: 120_000 };
const context = { logger: createLogger({ name: 'test', level: 'silent' }) };
describe.skipIf(!redisInstalled())('the second of a key on Redis (needs redis-server)', () => {
  let redis: LocalRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it('counts for all gateways together, and for each alone while Redis is away', async () => {
    const connections = [connectRedis(redis.url, context), connectRedis(redis.url, context)];
    const limiters = connections.map(createSharedSeconds);
    await vi.waitFor(() => expect(connections.map((each) => each.status)).toEqual(['ready', 'ready']), WAIT);
    // A second of Redis may begin at any time, so the limit is far from what a second can ask.
    const take = async (gateway: number, keyId = 1, method = '') =>
      limiters[gateway]?.take(keyId, method, 1_000_000_000, 400_000_000);
    const allowed = async (gateway: number) => (await take(gateway))?.allowed;
    await vi.waitFor(async () => {
      expect([await allowed(0), await allowed(1), await allowed(0), await allowed(1)]).toEqual([
        ...[true, true, false, false],
      ]);
    }, WAIT);
    expect(await take(0, 2)).toMatchObject({
      window: 'second',
      limit: 1_000_000_000,
      remaining: 600_000_000,
    });
    expect(await take(0, 2, 'eth_call')).toMatchObject({ allowed: true, remaining: 600_000_000 });
    expect(await limiters[1]?.left(3, 7)).toMatchObject({ window: 'second', limit: 7, remaining: 7 });

    await redis.stop();
    await vi.waitFor(() => expect(connections.map((each) => each.status)).not.toContain('ready'), WAIT);
    await vi.waitFor(async () => {
      expect([await allowed(0), await allowed(0), await allowed(0), await allowed(1)]).toEqual([
        ...[true, true, false, true],
      ]);
    }, WAIT);
    await Promise.all(limiters.map((each) => each.close()));
  });
});
