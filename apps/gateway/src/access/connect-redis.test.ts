import { redisInstalled, startRedis } from '@packhouse/local';
import { createLogger } from '@packhouse/runtime';
import { expect, it, vi } from 'vitest';
import { connectRedis } from './connect-redis.js';

it.skipIf(!redisInstalled())(
  'a Redis that drops keys is an error in the log, and is used all the same (needs redis-server)',
  async () => {
    const lines: string[] = [];
    const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
    const server = await startRedis({ more: ['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-lru'] });
    const redis = connectRedis(server.url, { logger });
    try {
      await vi.waitFor(() => expect(lines.join('')).toContain('maxmemory-policy is volatile-lru'), 60_000);
      expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'error' });
      expect(await redis.set('a', 1)).toBe('OK');
    } finally {
      redis.disconnect();
      await server.stop();
    }
  },
);
