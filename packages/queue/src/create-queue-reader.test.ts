import { freePort, freshDatabase } from '@packhouse/local';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { createQueueReader } from './create-queue-reader.js';
import { createQueues } from './create-queues.js';
import { context, ingest } from './testing/fixtures.js';

it('makes no tables where there are none, says that the queue is away, and finds it when it comes', async () => {
  const { url, drop } = await freshDatabase(inject('postgresUrl'));
  let now = 0;
  const clock = { ...context.clock, elapsed: () => now };
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  const reader = createQueueReader({ databaseUrl: url, context: { ...context, clock }, timeoutMs: 60_000 });
  await expect(reader.peek('ingest', 5)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  // Repeated looks leak nothing.
  for (let again = 0; again < 12; again++) {
    now += 2_000;
    await expect(reader.peek('pack', 5)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  }
  expect(warnings).toEqual([]);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`SELECT nspname FROM pg_namespace WHERE nspname = 'bullmq'`);
  expect(rows).toEqual([]);
  await client.end();

  const queues = await createQueues({ databaseUrl: url, context });
  await queues.add('ingest', [ingest('there')]);
  await expect(reader.peek('ingest', 5), 'remembered for a moment').rejects.toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
  });
  now += 2_000;
  expect(await reader.peek('ingest', 5)).toEqual({ running: [], waiting: ['there'] });
  await reader.close();
  await expect(reader.peek('ingest', 5)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  await queues.close();
  await drop();
  process.off('warning', note);
});

it('waits for a server that does not answer no longer than it was told', async () => {
  const port = await freePort();
  for (const where of [
    { redisUrl: `redis://127.0.0.1:${port}` },
    { databaseUrl: `postgres://nobody:secret@127.0.0.1:${port}/none` },
  ]) {
    const reader = createQueueReader({ ...where, context, timeoutMs: 60_000 });
    const refused = await reader.peek('pack', 1).catch((error: Error) => error);
    expect(refused).toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    expect(String(refused)).not.toContain('secret');
    await reader.close();
  }
});
