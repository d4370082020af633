import { type LocalRedis, redisInstalled, startRedis } from '@packhouse/local';
import { createLogger, systemClock } from '@packhouse/runtime';
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
    const limiters = connections.map((each) => createSharedSeconds(each, systemClock));
    await vi.waitFor(() => expect(connections.map((each) => each.status)).toEqual(['ready', 'ready']), WAIT);
    // A second of Redis may begin at any time, so the limit is far from what a second can ask.
    const take = async (gateway: number, name: string | number = 1) =>
      limiters[gateway]?.take(name, 1_000_000_000, 400_000_000);
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
    expect(await take(0, '2 eth_call')).toMatchObject({ allowed: true, remaining: 600_000_000 });
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

  it('carries a debt into the next seconds, whichever gateway is asked', async () => {
    const server = await startRedis();
    const connections = [connectRedis(server.url, context), connectRedis(server.url, context)];
    const [one, two] = connections.map((each) => createSharedSeconds(each, systemClock));
    await vi.waitFor(() => expect(connections.map((each) => each.status)).toEqual(['ready', 'ready']), WAIT);
    // It takes an hour to pay, whatever time the test takes.
    expect(await one?.take(1, 10, 36_000)).toMatchObject({ allowed: true, remaining: 0, limit: 10 });
    const refused = await two?.take(1, 10, 1);
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    expect(refused?.resetMs).toBeGreaterThan(3_000_000);
    expect(await two?.left(1, 10)).toMatchObject({ remaining: 0 });
    // Units of the same request, counted before it was read.
    expect(await two?.take(2, 10, 19)).toMatchObject({ allowed: true });
    expect(await one?.take(2, 10, 981, 19)).toMatchObject({ allowed: true });
    expect(await one?.take(2, 10, 1)).toMatchObject({ allowed: false });
    // A higher limit pays at once what a second of it covers.
    expect(await one?.take(3, 10, 15)).toMatchObject({ allowed: true });
    expect(await two?.take(3, 1_000, 15)).toMatchObject({ allowed: true });
    for (const connection of connections) connection.disconnect();
    await server.stop();
  });
});
