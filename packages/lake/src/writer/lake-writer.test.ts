import { getRecords, putRaw, republish, rowAt } from '@packhouse/audit/testing/audited.js';
import { KINDS, type Kind, TABLES, type TableName } from '@packhouse/chain';
import type { Database, LakeFile } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import type { ObjectStore } from '@packhouse/object-store';
import { sealPending } from '@packhouse/pipeline';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { readRows } from '@packhouse/rows';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { readTable } from '../testing/read-table.js';
import { createLakeWriter } from './lake-writer.js';
import { deleteExpired, deleteLakeOrphans } from './sweep.js';

const FIRST = 1_004;
const LENGTH = 28;
const LAST = FIRST + LENGTH - 1;
const GRID = { sizes: [20, 10, 5], larger: [], maxBytes: 10_000_000, maxBundleBytes: 10_000_000 };
const EVERYTHING = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, LENGTH) }], { maxBlocks: 7 });
  await world.want(FIRST, LAST);
  await world.noteHead();
  await world.settle();
});
afterAll(() => world.close());

const newWriter = (objectStore: ObjectStore = world.objectStore) =>
  createLakeWriter({ ...world, objectStore, networks: () => [world.network], grid: GRID });
const getFiles = (kind: TableName): Promise<LakeFile[]> =>
  world.database.network('main').lake.newest(kind, EVERYTHING);
const toRanges = (files: readonly LakeFile[]): string[] =>
  files.map(({ firstBlock, lastBlock }) => `${firstBlock}-${lastBlock}`);

/** The rows of a table, in the order of its files. */
const tableRows = (kind: TableName) =>
  readTable(world.objectStore, world.database.network('main').lake, kind);

/** The numbers that identify the rows of the published bundles, in their order. */
async function publishedPlaces(kind: Kind): Promise<string[]> {
  const places: string[] = [];
  for (const row of await world.database.network('main').bundles.list(kind, 0, 1_000)) {
    const bytes = await world.objectStore.read(row.objectKey);
    for await (const { rows, columns } of readRows({ bytes, kind, chainId: 1, fileFrom: row.firstBlock })) {
      for (let at = 0; at < rows; at += 1) {
        places.push(
          `${columns.block_number?.[at]} ${columns.log_index?.[at] ?? columns.transaction_index?.[at] ?? ''}`,
        );
      }
    }
  }
  return places;
}

const toPlace = (row: Record<string, unknown>): string =>
  `${row.block_number} ${row.log_index ?? row.transaction_index ?? ''}`;

it('has all rows of the published bundles, in files of the grid, and the head of the manifest', async () => {
  expect(await newWriter().run(world.context.signal)).toBe(false);
  for (const kind of KINDS) {
    const files = await getFiles(kind);
    expect(toRanges(files)).toEqual(['1004-1004', '1005-1009', '1010-1019', '1020-1029', '1030-1031']);
    expect((await tableRows(kind)).map(toPlace)).toEqual(await publishedPlaces(kind));
    expect(files.map(({ stats }) => stats[1])).toEqual(
      files.map(({ firstBlock, lastBlock }) => ({ min: `${firstBlock}`, max: `${lastBlock}`, nulls: 0 })),
    );
    const table = (await world.database.network('main').lake.tables()).find((each) => each.kind === kind);
    const tip = (await world.database.network('main').manifest.tip(kind)) as object;
    expect(table?.heads[kind]).toMatchObject(tip);
  }
});

it('has the outcome of transactions from their receipts, and the times of the headers', async () => {
  const [receipts, transactions] = [await tableRows('receipts'), await tableRows('transactions')];
  expect(transactions.map(({ gas_used }) => gas_used)).toEqual(receipts.map(({ gas_used }) => gas_used));
  expect(transactions.every(({ block_timestamp }) => block_timestamp !== null)).toBe(true);
});

it('has transfers of the blocks that have all their kinds, and makes them anew for a network of other kinds', async () => {
  const { lake } = world.database.network('main');
  const heads = async () =>
    (await lake.tables()).find(({ kind }) => kind === 'transfers')?.heads as Partial<Record<Kind, object>>;
  const logs = (await tableRows('logs')).filter(({ topic0 }) => String(topic0).startsWith('0xddf252ad'));
  const rows = await tableRows('transfers');
  expect(toRanges(await getFiles('transfers'))).toEqual(toRanges(await getFiles('logs')));
  expect(rows.filter(({ source }) => source === 'log')).toHaveLength(logs.length);
  const traced = rows.filter(({ source }) => source === 'trace');
  expect(traced.length).toBeGreaterThan(0);
  expect(Object.keys(await heads()).sort()).toEqual(['blocks', 'logs', 'traces']);

  const kinds = world.network.bundles.kinds.filter((kind) => kind !== 'traces');
  const network = { ...world.network, bundles: { ...world.network.bundles, kinds } };
  const without = createLakeWriter({ ...world, networks: () => [network], grid: GRID });
  await without.run(world.context.signal);
  expect(Object.keys(await heads()).sort()).toEqual(['blocks', 'logs']);
  expect(await tableRows('transfers')).toEqual(rows.filter(({ source }) => source !== 'trace'));

  await newWriter().run(world.context.signal);
  expect(await tableRows('transfers')).toEqual(rows);
});

it('reads each bundle once for all tables, and again for none but the table that is written again', async () => {
  await forgetTables();
  const keys: string[] = [];
  const counting = Object.assign(Object.create(world.objectStore), {
    read: (...args: Parameters<ObjectStore['read']>) => {
      if (/^main\/.*gz$/.test(args[0])) keys.push(args[0]);
      return world.objectStore.read(...args);
    },
  }) as ObjectStore;
  await newWriter(counting).run(world.context.signal);
  const published = [];
  for (const kind of KINDS) {
    for (const row of await world.database.network('main').bundles.list(kind, 0, 1_000))
      published.push(row.objectKey);
  }
  // Those at the border of two cells are read with each.
  expect(new Set(keys)).toEqual(new Set(published));
  expect(keys.length - published.length).toBeLessThanOrEqual(KINDS.length);
  keys.length = 0;
  await world.database.network('main').lake.rebuild('logs', { firstBlock: 1_012, lastBlock: 1_012 });
  await newWriter(counting).run(world.context.signal);
  expect(keys.length).toBeGreaterThan(0);
  expect(keys.every((key) => key.includes('/logs/'))).toBe(true);
});

it('writes nothing if nothing was published', async () => {
  const before = await world.database.network('main').lake.tables();
  await newWriter().run(world.context.signal);
  expect(await world.database.network('main').lake.tables()).toEqual(before);
});

it('replaces the file of a bundle that was published again, and no other', async () => {
  const before = await getFiles('logs');
  const row = await rowAt(world, 'logs', 1_012);
  const records = await getRecords(world.objectStore, row);
  const emptied = records.map((text, at) => (row.firstBlock + at === 1_012 ? '[]' : text));
  const { undo } = await republish(world, row, emptied);
  await sealPending({ ...world, network: 'main' }, 'logs', world.context.signal);
  await newWriter().run(world.context.signal);
  const after = await getFiles('logs');
  const touched = before.filter(
    ({ firstBlock, lastBlock }) => firstBlock <= row.lastBlock && lastBlock >= row.firstBlock,
  );
  const changed = after.filter(({ objectKey }) => !before.some((file) => file.objectKey === objectKey));
  expect(toRanges(changed)).toEqual(toRanges(touched));
  expect((await tableRows('logs')).some(({ block_number }) => Number(block_number) === 1_012)).toBe(false);
  await undo();
  await sealPending({ ...world, network: 'main' }, 'logs', world.context.signal);
  await newWriter().run(world.context.signal);
  expect((await tableRows('logs')).map(toPlace)).toEqual(await publishedPlaces('logs'));
});

it('has whole cells in one file if they have few bytes, and takes it apart again if one of them is too large', async () => {
  await forgetTables();
  const aligned = { ...GRID, sizes: [4, 2], larger: [8] };
  const run = (grid: typeof aligned) =>
    createLakeWriter({ ...world, networks: () => [world.network], grid }).run(world.context.signal);
  await run(aligned);
  const merged = ['1004-1007', '1008-1015', '1016-1023', '1024-1031'];
  expect(toRanges(await getFiles('logs'))).toEqual(merged);
  expect((await tableRows('logs')).map(toPlace)).toEqual(await publishedPlaces('logs'));

  // A repaired bundle is written with the others of its file, and files that are too large now are taken apart.
  const row = await rowAt(world, 'logs', 1_020);
  const records = await getRecords(world.objectStore, row);
  const { undo } = await republish(
    world,
    row,
    records.map(() => '[]'),
  );
  await sealPending({ ...world, network: 'main' }, 'logs', world.context.signal);
  await run({ ...aligned, maxBundleBytes: 1 });
  const apart = toRanges(await getFiles('logs'));
  expect(apart).toContain('1020-1021');
  expect(apart).not.toContain('1016-1023');
  expect((await tableRows('logs')).map(toPlace)).toEqual(await publishedPlaces('logs'));
  await undo();
  await sealPending({ ...world, network: 'main' }, 'logs', world.context.signal);
  await run(aligned);
  expect(toRanges(await getFiles('logs'))).toEqual(merged);
  expect((await tableRows('logs')).map(toPlace)).toEqual(await publishedPlaces('logs'));
  await forgetTables();
  await newWriter().run(world.context.signal);
});

it('names a damaged bundle and writes the other files; the rows follow once it is repaired', async () => {
  const { lake, alarms } = world.database.network('main');
  const row = await rowAt(world, 'receipts', 1_012);
  const sound = await world.objectStore.read(row.objectKey);
  await forgetTables();
  await putRaw(world.objectStore, row.objectKey, sound.subarray(0, -1));
  await newWriter().run(world.context.signal);
  const [alarm] = (await alarms.list()).filter(({ name }) => name === 'LAKE_INCOMPLETE');
  expect(alarm?.message).toContain(row.objectKey);
  expect((await getFiles('logs')).length).toBeGreaterThan(0);
  const [table] = (await lake.tables()).filter(({ kind }) => kind === 'receipts');
  expect(table?.heads.receipts).toBeUndefined();
  await putRaw(world.objectStore, row.objectKey, sound);
  await newWriter().run(world.context.signal);
  expect((await tableRows('receipts')).map(toPlace)).toEqual(await publishedPlaces('receipts'));
  expect((await alarms.list()).filter(({ name }) => name === 'LAKE_INCOMPLETE')).toEqual([]);
});

it('deletes replaced files after their time, and objects of killed writers', async () => {
  const { signal } = world.context;
  const orphan = `_lake/main/logs/1-2-${'0'.repeat(16)}.parquet`;
  await putRaw(world.objectStore, orphan, Buffer.from('x'));
  expect(await deleteLakeOrphans(world, 'main', signal)).toEqual([]);
  const clock = { ...world.context.clock, now: () => Date.now() + 7_200_000 };
  const later = { ...world, context: { ...world.context, clock } };
  await republishLogs();
  const before = await objectsOf('logs');
  expect(await deleteExpired(world, 'main', { keepMs: 3_600_000, signal })).toBe(0);
  expect(await deleteExpired(world, 'main', { keepMs: 0, signal })).toBeGreaterThan(0);
  expect(await deleteLakeOrphans(later, 'main', signal)).toContain(orphan);
  const kept = await objectsOf('logs');
  expect(kept).toEqual((await getFiles('logs')).map(({ objectKey }) => objectKey).sort());
  expect(before.length).toBeGreaterThan(kept.length);
  expect((await tableRows('logs')).map(toPlace)).toEqual(await publishedPlaces('logs'));
});

it('refuses a writer that lost its lease', async () => {
  await forgetTables();
  const lock = await world.database.tryLock('lake');
  await lock?.release();
  await expect(newWriter().run(world.context.signal, lock?.fence)).rejects.toMatchObject({
    code: 'LEASE_LOST',
  });
  expect(await getFiles('blocks')).toEqual([]);
});

/** Deaths of one run: a few always, many at night. */
const SEEDS = process.env.SEEDS === 'many' ? 200 : 2;

it(`ends with the same tables however often it is killed (${SEEDS} deaths)`, {
  timeout: 1_800_000,
}, async () => {
  await forgetTables();
  await newWriter().run(world.context.signal);
  const whole = await Promise.all(TABLES.map(getFiles));
  for (let seed = 0; seed < SEEDS; seed += 1) {
    await forgetTables();
    for (let step = seed; ; step += 7) {
      const { database, objectStore } = dyingAt(step % 54);
      const writer = createLakeWriter({
        ...world,
        database,
        objectStore,
        networks: () => [world.network],
        grid: GRID,
      });
      const died = await writer.run(world.context.signal).then(
        () => false,
        (error: Error) => error.message === 'killed' || Promise.reject(error),
      );
      if (!died) break;
    }
    expect((await Promise.all(TABLES.map(getFiles))).map(withoutSnapshots)).toEqual(
      whole.map(withoutSnapshots),
    );
  }
});

/** A database and a store of which a write dies, before or after it was done. */
function dyingAt(death: number): { database: Database; objectStore: ObjectStore } {
  let step = 0;
  const die = (): void => {
    if (step++ === death) throw new Error('killed');
  };
  const main = world.database.network('main');
  const dying = async <T>(write: () => Promise<T>): Promise<T> => {
    die();
    const result = await write();
    die();
    return result;
  };
  const commit: typeof main.lake.commit = (...change) => dying(() => main.lake.commit(...change));
  const put: ObjectStore['put'] = (...object) => dying(() => world.objectStore.put(...object));
  const { objectStore, database } = world;
  return {
    database: Object.assign(Object.create(database), {
      network: () => ({ ...main, lake: { ...main.lake, commit } }),
    }) as Database,
    objectStore: Object.assign(Object.create(objectStore), { put }) as ObjectStore,
  };
}

async function forgetTables(): Promise<void> {
  await runSql(world.databaseUrl, 'DELETE FROM packhouse.lake_file');
  await runSql(world.databaseUrl, 'DELETE FROM packhouse.lake_table');
}

/** Replaces a bundle of logs and takes that back. */
async function republishLogs(): Promise<void> {
  const row = await rowAt(world, 'logs', 1_020);
  const { undo } = await republish(
    world,
    row,
    (await getRecords(world.objectStore, row)).map(() => '[]'),
  );
  await sealPending({ ...world, network: 'main' }, 'logs', world.context.signal);
  await newWriter().run(world.context.signal);
  await undo();
  await sealPending({ ...world, network: 'main' }, 'logs', world.context.signal);
  await newWriter().run(world.context.signal);
}

async function objectsOf(kind: Kind): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of world.objectStore.list(`_lake/main/${kind}/`)) keys.push(key);
  return keys.sort();
}

const withoutSnapshots = (files: readonly LakeFile[]): object[] =>
  files.map(({ addedSnapshot: _, ...file }) => file);
