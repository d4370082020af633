import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { KeyRow } from '@packhouse/database';
import { createLogger } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectRedis } from './connect-redis.js';
import { createSharedRateLimiter } from './create-shared-rate-limiter.js';

const redisServer = (process.env.PATH ?? '')
  .split(path.delimiter)
  .map((folder) => path.join(folder, 'redis-server'))
  .find((program) => existsSync(program));

const WAIT = { timeout: 30_000 };
const context = { logger: createLogger({ name: 'test', level: 'silent' }) };
const key = (id: number, requestsPerDay: number | null = null) =>
  ({
    id,
    plan: { name: 'free', maxBlock: null, requestsPerSecond: 1_000, requestsPerDay },
  }) as KeyRow;

describe.skipIf(redisServer === undefined)('the rate limiter on Redis (needs redis-server)', () => {
  let redis: ChildProcess;
  let url: string;
  beforeAll(async () => {
    const port = await freePort();
    url = `redis://127.0.0.1:${port}`;
    redis = spawn(redisServer as string, ['--port', String(port), '--save', '', '--appendonly', 'no'], {
      stdio: 'ignore',
    });
  });
  afterAll(() => {
    redis.kill('SIGKILL');
  });

  it('counts for all gateways together, and for each alone while Redis is away', async () => {
    const connections = [connectRedis(url, context), connectRedis(url, context)];
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

    redis.kill('SIGKILL');
    await vi.waitFor(() => expect(connections.map((each) => each.status)).not.toContain('ready'), WAIT);
    expect([await take(0), await take(0), await take(0), await take(0)]).toEqual([true, true, true, false]);
    expect(await take(1)).toBe(true);
    await Promise.all(limiters.map((each) => each.close()));
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
