import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase } from '../create-database.js';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';

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

const LOCKS = `SELECT pid FROM pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

it('has all locks of a process on one connection, and gives none of them twice', async () => {
  const database = createDatabase({
    connectionString: open.url,
    context: silentContext(),
    applicationName: 'packhouse test',
  });
  const [one, again, two] = await Promise.all(['one', 'one', 'two'].map((name) => database.tryLock(name)));
  expect([one, again, two].map((lock) => lock !== null)).toEqual([true, false, true]);
  const pids = (await open.sql<{ pid: number }>(LOCKS)).map(({ pid }) => pid);
  expect(pids).toEqual([pids[0], pids[0]]);
  await one?.release();
  expect(two?.lost.aborted).toBe(false);
  expect(await open.database.tryLock('two')).toBeNull();
  const next = await database.tryLock('one');
  expect(await open.sql(LOCKS)).toEqual([{ pid: pids[0] }, { pid: pids[0] }]);
  await database.close();
  expect([two, next].map((lock) => lock?.lost.aborted)).toEqual([true, true]);
  await expect.poll(() => open.sql(LOCKS)).toEqual([]);
});

it('tells the holder when the connection is gone', async () => {
  const lock = (await open.database.tryLock('fragile'))!;
  const lost = once(lock.lost, 'abort');
  await open.sql(`SELECT pg_terminate_backend(pid) FROM (${LOCKS}) AS locks`);
  await lost;
  const next = await open.database.tryLock('fragile');
  expect(next).not.toBeNull();
  await next?.release();
  await lock.release();
});
