import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type LocalRedis, redisInstalled, startRedis } from './redis.js';

describe.skipIf(!redisInstalled())('a local Redis (needs redis-server)', () => {
  let redis: LocalRedis | undefined;
  afterEach(() => redis?.stop());

  it('answers as soon as it is started, and keeps nothing when it is started again', async () => {
    redis = await startRedis();
    expect(await redis.command('SET a 1')).toBe('+OK\r\n');
    expect(await redis.command('GET a')).toBe('$1\r\n1\r\n');
    await redis.restart();
    expect(await redis.command('EXISTS a')).toBe(':0\r\n');
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`);
  });

  it('asks for the password that it was started with', async () => {
    redis = await startRedis({ password: 'secret' });
    expect(redis.url).toBe(`redis://:secret@127.0.0.1:${redis.port}`);
    expect(await redis.command('DBSIZE')).toBe(':0\r\n');
    const socket = connect(redis.port, '127.0.0.1').end('DBSIZE\r\n');
    const answer = await new Promise<string>((resolve) =>
      socket.once('data', (data) => resolve(String(data))),
    );
    expect(answer).toMatch(/^-NOAUTH/);
  });

  it('is gone when it is stopped, however often', async () => {
    redis = await startRedis();
    await redis.stop();
    await redis.stop();
    await expect(redis.command('PING')).rejects.toThrow();
  });
});
