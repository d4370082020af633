import { systemClock } from '@packhouse/runtime';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';
import { createBlockingCheck } from './blocking-sessions.js';
import { createConnections } from './connections.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;

/** A check whose clock is moved by hand. */
function checking() {
  let elapsed = 0;
  const context = { ...silentContext(), clock: { ...systemClock, elapsed: () => elapsed } };
  const connections = createConnections({ connectionString: open.url, context, applicationName: 'check' });
  return {
    check: createBlockingCheck(connections, context),
    later: (ms: number) => {
      elapsed += ms;
    },
    close: () => connections.close(),
  };
}

/** A process that holds a lock, in the middle of a COPY, and another that waits for the lock. */
async function stuck(application: string) {
  const holder = new pg.Client({ connectionString: open.url, application_name: application });
  holder.on('error', () => undefined);
  await holder.connect();
  await holder.query('BEGIN; SELECT pg_advisory_xact_lock(5); CREATE TEMP TABLE half (text text)');
  const copy = holder.query(from('COPY half FROM STDIN'));
  const broken = new Promise((resolve) => copy.once('error', resolve));
  const send = (bytes: number) =>
    new Promise<void>((resolve) => copy.write(`${'x'.repeat(bytes)}\n`, () => resolve()));
  await send(10);
  const waiter = new pg.Client({ connectionString: open.url, application_name: 'packhouse waiter' });
  await waiter.connect();
  const waited = waiter.query('SELECT pg_advisory_lock(5)');
  await expect.poll(() => open.sql(WAITING)).toHaveLength(1);
  return { holder, waiter, waited, send, broken };
}

it('ends a silent session of ours that others wait for, and none from which something comes', async () => {
  const { check, later, close } = checking();
  const { waiter, waited, send, broken } = await stuck('packhouse ingester');
  const received = () => open.sql('SELECT bytes_processed FROM pg_stat_progress_copy');
  for (let times = 0; times < 3; times += 1) {
    expect(await check()).toBe(0);
    later(9_000);
    const before = await received();
    // Postgres counts what it has read by its own buffer.
    await send(100_000);
    await expect.poll(received).not.toEqual(before);
  }
  expect(await open.sql(WAITING)).toHaveLength(1);
  await check();
  later(10_000);
  expect(await check()).toBe(0);
  await waited;
  await broken;
  await waiter.end();
  await close();
});

it('names a session of another program, and leaves it alone', async () => {
  const { check, later, close } = checking();
  const { holder, waiter, waited } = await stuck('psql');
  expect(await check()).toBe(0);
  later(10_000);
  expect(await check()).toBe(1);
  expect(await open.sql(WAITING)).toHaveLength(1);
  await holder.end();
  await waited;
  expect(await check()).toBe(0);
  await waiter.end();
  await close();
});
