import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const made = async (keyId: number, ttlMs = 60_000, maxOfKey = 100) => {
  const id = randomBytes(16);
  const ok = await open.database.filters.create({
    id,
    network: 'main',
    keyId,
    state: 'first',
    ttlMs,
    maxOfKey,
  });
  return { id, ok };
};

it('is there until it expires, for every process', async () => {
  const { id } = await made(1);
  expect(await open.another().filters.get(id)).toEqual({
    network: 'main',
    keyId: 1,
    state: 'first',
    version: 1,
  });
  const { id: old } = await made(1, 0);
  expect(await open.database.filters.get(old)).toBeNull();
  await open.database.filters.sweep();
  expect(await open.sql('SELECT 1 FROM packhouse.rpc_filter WHERE id = $1', [old])).toEqual([]);
});

it('is changed by whoever saw it last, and by nobody else', async () => {
  const { filters } = open.database;
  const { id } = await made(1);
  const writes = ['a', 'b', 'c'].map((state) => filters.update({ id, version: 1, state, ttlMs: 60_000 }));
  expect((await Promise.all(writes)).filter(Boolean)).toHaveLength(1);
  expect(await filters.get(id)).toMatchObject({ version: 2 });
});

it('is removed by its own key on its own network only', async () => {
  const { filters } = open.database;
  const { id } = await made(1);
  expect(await filters.remove({ id, network: 'main', keyId: 2 })).toBe(false);
  expect(await filters.remove({ id, network: 'other', keyId: 1 })).toBe(false);
  expect(await filters.remove({ id, network: 'main', keyId: 1 })).toBe(true);
  expect(await filters.remove({ id, network: 'main', keyId: 1 })).toBe(false);
});

it('a key has so many and no more', async () => {
  expect((await made(9, 60_000, 2)).ok).toBe(true);
  expect((await made(9, 60_000, 2)).ok).toBe(true);
  expect((await made(9, 60_000, 2)).ok).toBe(false);
  expect((await made(10, 60_000, 2)).ok).toBe(true);
});

it('a key has no more where they are made at once, by several processes', async () => {
  const other = open.another();
  // Connections are opened first, so that all begin together.
  await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? open.database : other).filters.count()));
  const makes = Array.from({ length: 40 }, (_, n) =>
    (n % 2 ? open.database : other).filters.create({
      id: randomBytes(16),
      network: 'main',
      keyId: -11,
      state: 'first',
      ttlMs: 60_000,
      maxOfKey: 5,
    }),
  );
  expect((await Promise.all(makes)).filter(Boolean)).toHaveLength(5);
});

it('numbers waiting transactions once, in the order in which they were seen', async () => {
  const { filters } = open.database;
  const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
  expect(await filters.newestPending('main')).toBe(0);
  await filters.addPending('main', [hash(3), hash(1)]);
  await filters.addPending('main', [hash(1), hash(2), hash(3)]);
  await filters.addPending('other', [hash(1)]);
  const first = await filters.pendingAfter('main', 0, 2);
  expect(first.hashes).toEqual([hash(3), hash(1)]);
  expect((await filters.pendingAfter('main', first.sequence, 10)).hashes).toEqual([hash(2)]);
  expect((await filters.pendingAfter('main', await filters.newestPending('main'), 10)).hashes).toEqual([]);
});

it('a transaction that is still seen keeps its number; what is not is forgotten after ten minutes', async () => {
  const { filters } = open.database;
  const [waits, mined] = ['a', 'b'].map((digit) => `0x${digit.repeat(64)}`) as [string, string];
  await filters.addPending('old', [waits, mined]);
  const numbers = (): Promise<object[]> =>
    open.sql('SELECT sequence FROM packhouse.pending_transaction WHERE network = $1', ['old']);
  const newest = await filters.newestPending('old');
  await open.sql(`UPDATE packhouse.pending_transaction SET seen_at = seen_at - interval '11 minutes'`);
  await filters.addPending('old', [waits]);
  await filters.sweep();
  expect(await numbers()).toHaveLength(1);
  await filters.addPending('old', [waits]);
  expect(await filters.pendingAfter('old', newest, 10)).toEqual({ hashes: [], sequence: newest });
});
