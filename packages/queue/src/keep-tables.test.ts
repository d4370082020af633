import { freshDatabase } from '@packhouse/local';
import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { createQueues } from './create-queues.js';
import type { Queues } from './queues.js';
import { context, ingest, until } from './testing/fixtures.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

/** A separate database with direct SQL access, and queues on it. */
async function make(): Promise<{
  open: () => Promise<Queues>;
  sql: (text: string) => Promise<pg.QueryResult>;
}> {
  const fresh = await freshDatabase(inject('postgresUrl'));
  closers.push(() => fresh.drop());
  const client = new pg.Client({ connectionString: fresh.url });
  await client.connect();
  closers.push(() => client.end());
  const open = async (): Promise<Queues> => {
    const queues = await createQueues({ databaseUrl: fresh.url, context, backoffMs: 10, lockMs: 2_000 });
    closers.push(() => queues.close());
    return queues;
  };
  return { open, sql: (text) => client.query(text) };
}

const tables = `SELECT relname FROM pg_class
  WHERE relnamespace = to_regnamespace('bullmq') AND relkind = 'r' ORDER BY relname`;

test('a schema that is dropped while processes run is made again, and jobs run in it', async () => {
  const { open, sql } = await make();
  const [planner, worker] = [await open(), await open()];
  const ran: string[] = [];
  await worker.work('ingest', async (job) => void ran.push(job.id), { concurrency: 2 });
  await planner.add('ingest', [ingest('before')]);
  await until(() => expect(ran).toContain('before'));
  const whole = (await sql(tables)).rows;
  for (const round of ['first', 'second']) {
    await until(() => sql('DROP SCHEMA IF EXISTS bullmq CASCADE'));
    // As a plan does: a job that cannot be added now is added by the next plan.
    await until(() => planner.add('ingest', [ingest(round)]));
    await until(() => expect(ran).toContain(round));
    expect((await sql(tables)).rows).toEqual(whole);
    expect(await planner.pendingIds('pack')).toEqual(new Set());
  }
});

test('every single table may go: the queue works on, and the first that is missed brings all of them back', async () => {
  const { open, sql } = await make();
  const [planner, worker] = [await open(), await open()];
  const ran: string[] = [];
  await worker.work('ingest', async (job) => void ran.push(job.id), { concurrency: 1 });
  const whole = (await sql(tables)).rows as { relname: string }[];
  expect(whole.length).toBeGreaterThan(2);
  for (const relname of [...whole.map((row) => row.relname).filter((name) => name !== 'job'), 'job']) {
    // Postgres may choose the drop as the deadlock victim if it meets the worker.
    await until(() => sql(`DROP TABLE IF EXISTS bullmq."${relname}" CASCADE`));
    await until(async () => {
      await planner.add('ingest', [ingest(`after-${relname}`)]);
      expect(ran).toContain(`after-${relname}`);
    });
  }
  expect((await sql(tables)).rows).toEqual(whole);
});
