import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type LocalSentinel, redisInstalled, startRedis, startSentinel } from '@packhouse/local';
import { describe, expect, it } from 'vitest';
import { createQueues } from './create-queues.js';
import { context, gate, ingest, lines, until } from './testing/fixtures.js';

const FOR_CACHES = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'];

describe.skipIf(!redisInstalled())('a Redis that cannot hold queues (needs redis-server)', () => {
  it.each([
    ['evicts keys', FOR_CACHES, 'QUEUE_UNSUPPORTED', /maxmemory-policy is allkeys-lru, which drops/],
    ['is a node of a cluster', ['--cluster-enabled', 'yes'], 'QUEUE_UNSUPPORTED', /is a node of a cluster/],
    ['is a replica', ['--replicaof', '127.0.0.1 1'], 'QUEUE_UNAVAILABLE', /a replica, which takes no writes/],
  ])('is refused in one sentence: it %s', async (_, more, code, sentence) => {
    // Where a node of a cluster writes what it knows of the others.
    const folder = await mkdtemp(path.join(tmpdir(), 'packhouse-redis-'));
    const redis = await startRedis({ more: [...more, '--dir', folder] });
    try {
      const opening = createQueues({ redisUrl: redis.url, context });
      await expect(opening).rejects.toMatchObject({ code, message: expect.stringMatching(sentence) });
      await expect(opening).rejects.toThrow(`redis://127.0.0.1:${redis.port}`);
    } finally {
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is refused if no Sentinel answers, and if none knows the master', async () => {
    const gone = createQueues({ redisUrl: 'redis+sentinel://:hunter2@127.0.0.1:1/main', context });
    await expect(gone).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    await expect(gone).rejects.toThrow('redis+sentinel://127.0.0.1:1/main cannot be used: All sentinels are');
    await expect(gone).rejects.not.toThrow('hunter2');
  });
});

describe.skipIf(!redisInstalled())('queues behind Sentinel (needs redis-server)', () => {
  it('go on with the new master, and its workers too, without a restart', async () => {
    const sentinel: LocalSentinel = await startSentinel();
    lines.length = 0;
    const queues = await createQueues({ redisUrl: sentinel.url, context, backoffMs: 10, lockMs: 1_500 });
    try {
      const ran: string[] = [];
      const running = gate();
      await queues.work(
        'ingest',
        async ({ id }) => {
          ran.push(id);
          if (id === 'during') await running.opened;
        },
        { concurrency: 2 },
      );
      await queues.add('ingest', [ingest('before'), ingest('during')]);
      await until(() => expect(ran.sort()).toEqual(['before', 'during']));
      await sentinel.failOver();
      running.open();
      await until(() => queues.add('ingest', [ingest('after')]));
      await until(() => expect(ran).toContain('after'));
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
      expect(await sentinel.replica.command('EXISTS packhouse:ingest:meta')).toBe(':1\r\n');
      expect(lines.length, 'a failover floods no log').toBeLessThan(50);
    } finally {
      await queues.close();
      await sentinel.stop();
    }
  });
});
