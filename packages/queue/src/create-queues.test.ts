import { redisInstalled } from '@packhouse/local';
import { isPackhouseError } from '@packhouse/runtime';
import { describe, expect, it, vi } from 'vitest';
import { createQueues } from './create-queues.js';
import { context, gate, ingest, lines, until } from './testing/fixtures.js';
import { mortalPostgres, mortalRedis } from './testing/servers.js';

vi.setConfig({ testTimeout: 180_000 });

describe('a queue server that is not there', () => {
  it.each([
    { redisUrl: 'redis://user:hunter2@127.0.0.1:1/0?x=hunter2' },
    { databaseUrl: 'postgres://user:hunter2@127.0.0.1:1/db?x=hunter2' },
  ])('is said with its address and without its password (invariant 8)', async (url) => {
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

for (const { name, present, start } of [
  { name: 'Redis', present: redisInstalled(), start: mortalRedis },
  { name: 'Postgres', present: true, start: mortalPostgres },
]) {
  describe.skipIf(!present)(
    `queues on a ${name} that goes away${present ? '' : ' (needs redis-server)'}`,
    () => {
      it('say so when adding, finish what ran, and work on by themselves when the server is back', async () => {
        const server = await start();
        lines.length = 0;
        const queues = await createQueues({ ...server.url, context, backoffMs: 10, lockMs: 1_500 });
        const ran: string[] = [];
        const running = gate();
        await queues.work(
          'ingest',
          async (job) => {
            ran.push(job.id);
            if (job.id === 'during') await running.opened;
          },
          { concurrency: 2 },
        );
        await queues.add('ingest', [ingest('before'), ingest('during')]);
        await until(() => expect(ran.sort()).toEqual(['before', 'during']));

        await server.kill();
        await expect(queues.add('ingest', [ingest('meanwhile')])).rejects.toMatchObject({
          code: 'QUEUE_UNAVAILABLE',
          retryable: true,
        });
        running.open();
        await until(() => expect(lines.some((line) => line.includes('queue trouble'))).toBe(true));
        expect(lines.length, 'a server that is away floods no log').toBeLessThan(50);

        await server.revive();
        await until(() => queues.add('ingest', [ingest('after')]));
        await until(() => expect(ran).toContain('after'));
        await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
        await queues.close();
        await server.remove();
      });

      it('close within seconds all the same', async () => {
        const server = await start();
        const queues = await createQueues({ ...server.url, context });
        await queues.work('ingest', async () => undefined, { concurrency: 2 });
        await queues.add('ingest', [ingest('before')]);
        await server.kill();
        await queues.close();
        await server.remove();
      }, 30_000);
    },
  );
}
