import { once } from 'node:events';
import { startStallingProxy } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../create-database.js';
import { makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';
import { createConnections } from './connections.js';
import { createLeases } from './leases.js';

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

const LEASES = 'SELECT name, holder FROM packhouse.lease WHERE holder IS NOT NULL ORDER BY name';
const SESSIONS = `SELECT pid FROM pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

it('has all locks of a process on one connection, and gives none of them twice', async () => {
  const database = createDatabase({
    connectionString: open.url,
    context: silentContext(),
    applicationName: 'packhouse test',
  });
  const [one, again, two] = await Promise.all(['one', 'one', 'two'].map((name) => database.tryLock(name)));
  expect([one, again, two].map((lock) => lock !== null)).toEqual([true, false, true]);
  const [{ holder }, ...more] = (await open.sql<{ holder: string }>(LEASES)) as [{ holder: string }];
  expect(more).toEqual([{ name: 'two', holder }]);
  await one?.release();
  expect(two?.lost.aborted).toBe(false);
  expect(await open.database.tryLock('two')).toBeNull();
  const next = await database.tryLock('one');
  expect(await open.sql(LEASES)).toEqual([
    { name: 'one', holder },
    { name: 'two', holder },
  ]);
  expect(next!.fence.token).toBe(one!.fence.token + 1);
  await database.close();
  expect([two, next].map((lock) => lock?.lost.aborted)).toEqual([true, true]);
  await expect.poll(() => open.database.tryLock('two')).not.toBeNull();
});

it('tells the holder when the connection is gone, and the lock is free at once', async () => {
  const lock = (await open.database.tryLock('fragile'))!;
  const lost = once(lock.lost, 'abort');
  await open.sql(`SELECT pg_terminate_backend(pid) FROM (${SESSIONS}) AS locks`);
  await lost;
  const next = await open.database.tryLock('fragile');
  expect(next).not.toBeNull();
  await next?.release();
  await lock.release();
});

describe('a holder that is cut off without an end of its connection', () => {
  /** Leases of a second, as another process has them, behind a proxy that can stop passing anything on. */
  async function cutOff() {
    const proxy = await startStallingProxy(open.url);
    const connections = createConnections({
      connectionString: proxy.url,
      context: silentContext(),
      applicationName: 'packhouse test',
    });
    const leases = createLeases(connections, { leaseMs: 1_000, everyMs: 200 });
    return {
      proxy,
      leases,
      close: async () => {
        await proxy.close();
        await Promise.all([leases.close(), connections.close()]);
      },
    };
  }

  it('keeps its leases while it is renewed, stops before another begins, and has the next token refuse it', async () => {
    const { proxy, leases, close } = await cutOff();
    const held = (await leases.tryLock('lead:main'))!;
    const renewed = `SELECT expires_at::text AS at FROM packhouse.lease WHERE name = 'lead:main'`;
    const [before] = await open.sql(renewed);
    for (let times = 0; times < 2; times += 1) {
      const [now] = await open.sql(renewed);
      await expect.poll(() => open.sql(renewed), { timeout: 5_000 }).not.toEqual([now]);
    }
    expect(await open.sql(renewed)).not.toEqual([before]);
    expect(held.lost.aborted).toBe(false);
    expect(await open.database.tryLock('lead:main')).toBeNull();
    proxy.stall();
    let stopped: boolean | undefined;
    const other = open.another();
    for (let next = null; next === null; ) {
      next = await other.tryLock('lead:main');
      if (next !== null) {
        stopped = held.lost.aborted;
        expect(next.fence.token).toBe(held.fence.token + 1);
        const { head, staging } = open.database.network('main', next.fence);
        await head.set({ number: 9, hash: `0x${'ab'.repeat(32)}`, finalized: 1 });
        await head.setAnchor({ number: 1, hash: `0x${'ab'.repeat(32)}` });
        await staging.stage(makeRun(4, 5));
        const late = open.another().network('main', held.fence);
        for (const write of [
          () => late.head.set({ number: 5, hash: `0x${'cd'.repeat(32)}`, finalized: 3 }),
          () => late.head.setAnchor(null),
          () => late.staging.abandon(4),
        ]) {
          await expect(write()).rejects.toMatchObject({ code: 'LEASE_LOST', retryable: true });
        }
        expect(await head.get()).toMatchObject({ number: 9, finalized: 1 });
        expect(await head.anchor()).toMatchObject({ number: 1 });
        expect(await staging.blocks({ firstBlock: 4, lastBlock: 5 })).toHaveLength(2);
        expect(await staging.abandon(4)).toEqual({ abandoned: 2 });
        await next.release();
        await expect(head.setAnchor(null)).rejects.toMatchObject({ code: 'LEASE_LOST' });
      }
    }
    expect(stopped).toBe(true);
    await close();
  });

  it('loses a lease that another has, also if its own time is not over', async () => {
    const { leases, close } = await cutOff();
    const held = (await leases.tryLock('taken'))!;
    const other = (await leases.tryLock('other'))!;
    const lost = once(held.lost, 'abort');
    await open.sql(`UPDATE packhouse.lease SET holder = gen_random_uuid() WHERE name = 'taken'`);
    await lost;
    expect(other.lost.aborted).toBe(false);
    await close();
  });
});

it('writes nothing to find that another holds a lock', async () => {
  const held = (await open.database.tryLock('busy'))!;
  const xmin = `SELECT xmin::text, xmax::text, ctid::text, expires_at > clock_timestamp() AS held FROM packhouse.lease WHERE name = 'busy'`;
  const before = await open.sql(xmin);
  expect(await open.another().tryLock('busy')).toBeNull();
  expect(await open.sql(xmin)).toEqual(before);
  await held.release();
});
