import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('gives a lock to one of ten who ask at the same time, and to another after its release', async () => {
  const locks = await Promise.all(Array.from({ length: 10 }, () => open.another().tryLock('lead')));
  const held = locks.filter((lock) => lock !== null);
  expect(held).toHaveLength(1);
  expect(held[0]!.lost.aborted).toBe(false);
  const other = await open.database.tryLock('other');
  expect(other).not.toBeNull();
  await other?.release();
  await held[0]!.release();
  await held[0]!.release();
  expect(held[0]!.lost.aborted).toBe(true);
  const next = await open.database.tryLock('lead');
  expect(next).not.toBeNull();
  await next?.release();
});

it('tells the holder when the connection is gone', async () => {
  const lock = (await open.database.tryLock('fragile'))!;
  const lost = once(lock.lost, 'abort');
  await open.sql(`SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  await lost;
  const next = await open.database.tryLock('fragile');
  expect(next).not.toBeNull();
  await next?.release();
  await lock.release();
});
