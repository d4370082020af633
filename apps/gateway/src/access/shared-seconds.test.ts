import { type LocalRedis, redisInstalled, startRedis } from '@packhouse/local';
import { createLogger, systemClock } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectRedis } from './connect-redis.js';
import { createLocalSeconds, createSharedSeconds } from './seconds.js';

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
        true,
        true,
        false,
        false,
      ]);
    }, WAIT);
    expect(await take(0, 2)).toMatchObject({
      window: 'second',
      limit: 1_000_000_000,
      remaining: 600_000_000,
    });
    expect(await take(0, '2 eth_call')).toMatchObject({ allowed: true, remaining: 600_000_000 });
    expect(await limiters[1]?.peek(3, 7)).toMatchObject({ window: 'second', limit: 7, remaining: 7 });

    await redis.stop();
    await vi.waitFor(() => expect(connections.map((each) => each.status)).not.toContain('ready'), WAIT);
    await vi.waitFor(async () => {
      expect([await allowed(0), await allowed(0), await allowed(0), await allowed(1)]).toEqual([
        true,
        true,
        false,
        true,
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
    expect(await two?.peek(1, 10)).toMatchObject({ remaining: 0 });
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

  it('decides as the limiter in memory does, over random sequences', async () => {
    const server = await startRedis();
    const redis = connectRedis(server.url, context);
    await vi.waitFor(() => expect(redis.status).toBe('ready'), WAIT);
    let now = 1_000_000;
    const clock = { elapsed: () => now };
    // The script with this clock in place of that of Redis.
    const stepped = {
      eval: (script: string, ...args: (string | number)[]) =>
        redis.eval(
          script
            .replace("redis.call('TIME')", '{tonumber(ARGV[#ARGV]), 0}')
            .replace('t[1] * 1000', 't[1]')
            .replace(/^redis\.call\('PEXPIRE'.*$/m, ''),
          1,
          ...args.slice(1),
          now,
        ),
    } as unknown as typeof redis;
    const [shared, local] = [createSharedSeconds(stepped, clock), createLocalSeconds(clock)];
    let seed = 20_261_123;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const limits = [1, 7, 100, 5_000];
    for (let step = 0; step < 2_000; step += 1) {
      const name = random(limits.length);
      const limit = limits[name] as number;
      now += [0, 1, random(300), random(5_000)][random(4)] as number;
      if (random(5) === 0) {
        expect(await shared.peek(name, limit), `step ${step}`).toEqual(local.peek(name, limit));
        continue;
      }
      const [cost, counted] = [random(limit * 2 + 2), random(4) === 0 ? random(limit) : 0];
      expect(await shared.take(name, limit, cost, counted), `step ${step}`).toEqual(
        local.take(name, limit, cost, counted),
      );
    }
    redis.disconnect();
    await server.stop();
  });
});
