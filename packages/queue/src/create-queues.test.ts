import { once } from 'node:events';
import { isPackhouseError } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { createQueues } from './create-queues.js';
import { context, ingest, lines, until } from './testing/fixtures.js';
import { freePort, redisInstalled, startRedis } from './testing/servers.js';

describe('a queue server that is not there', () => {
  it.each([
    { redisUrl: 'redis://user:hunter2@127.0.0.1:1/0?x=hunter2' },
    { databaseUrl: 'postgres://user:hunter2@127.0.0.1:1/db?x=hunter2' },
  ])('is said with its address and without its password', async (url) => {
    const error: unknown = await createQueues({ ...url, context }).catch((caught: unknown) => caught);
    expect(isPackhouseError(error, 'QUEUE_UNAVAILABLE')).toBe(true);
    expect(String(error)).toContain('127.0.0.1:1');
    expect(String(error)).toContain('ECONNREFUSED');
    expect(String(error)).not.toContain('hunter2');
  });

  it('is a matter of settings when no address was given at all', async () => {
    await expect(createQueues({ context })).rejects.toMatchObject({ code: 'SETTINGS_INVALID' });
  });
});

describe.skipIf(!redisInstalled())('queues on a Redis that goes away', () => {
  it('says so when adding, and works on when the server is back', async () => {
    const port = await freePort();
    let redis = await startRedis(port);
    lines.length = 0;
    const queues = await createQueues({ redisUrl: `redis://127.0.0.1:${port}`, context, backoffMs: 10 });
    const ran: string[] = [];
    await queues.work('ingest', async (job) => void ran.push(job.id), { concurrency: 1 });
    await queues.add('ingest', [ingest('before')]);
    await until(() => expect(ran).toEqual(['before']));

    redis.kill('SIGKILL');
    await once(redis, 'exit');
    await expect(queues.add('ingest', [ingest('meanwhile')])).rejects.toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
      retryable: true,
    });
    expect(lines.some((line) => line.includes('queue trouble'))).toBe(true);

    redis = await startRedis(port);
    await until(() => queues.add('ingest', [ingest('after')]));
    await until(() => expect(ran).toEqual(['before', 'after']));
    redis.kill('SIGKILL');
    await once(redis, 'exit');
    await queues.close();
  });
});
