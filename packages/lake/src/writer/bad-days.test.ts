import { randomBytes } from 'node:crypto';
import { auditWorld, putRaw } from '@packhouse/audit/testing/audited.js';
import { KINDS } from '@packhouse/chain';
import { type Database, withLock } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import type { ObjectStore } from '@packhouse/object-store';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { PackhouseError } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createLakeWriter } from './lake-writer.js';
import { deleteExpired } from './sweep.js';

const FIRST = 1_004;
const LENGTH = 28;
const LAST = FIRST + LENGTH - 1;
const MIDDLE = FIRST + 13;
const GRID = { sizes: [20, 10, 5], larger: [], maxBytes: 10_000_000, maxBundleBytes: 10_000_000 };
const EVERYTHING = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, LENGTH) }], { maxBlocks: 7 });
  await world.want(FIRST, MIDDLE);
  await world.noteHead();
  await world.settle();
});
afterAll(() => world.close());

const sql = (text: string): Promise<unknown> => runSql(world.databaseUrl, text);
const lake = () => world.database.network('main').lake;
const newWriter = (parts: Partial<World> = {}) =>
  createLakeWriter({ ...world, ...parts, networks: () => [world.network], grid: GRID });
const write = (parts?: Partial<World>): Promise<boolean> => newWriter(parts).run(world.context.signal);
const rebuildAll = async (): Promise<void> => {
  for (const kind of KINDS) await lake().rebuild(kind, EVERYTHING);
};

/** Each table has every block once, and an audit of files, logs and objects finds nothing. */
async function expectWhole(lastBlock = LAST): Promise<void> {
  for (const { kind, snapshot, heads } of await lake().tables()) {
    const view = { kind, snapshot, maxBlock: Number.MAX_SAFE_INTEGER };
    expect(await lake().ranges(view, 9), kind).toEqual([{ firstBlock: FIRST, lastBlock }]);
    if (kind !== 'transfers')
      expect(heads[kind], kind).toMatchObject(
        (await world.database.network('main').manifest.tip(kind)) ?? {},
      );
  }
  expect((await auditWorld(world)).findings.map(({ message }) => message)).toEqual([]);
}

it('writes what was published while the lake was off', async () => {
  await write();
  await expectWhole(MIDDLE);
  await world.want(MIDDLE + 1, LAST);
  await world.settle();
  await write();
  await expectWhole();
});

it('has each block once though two wrote at the same time, without their lease', async () => {
  await rebuildAll();
  await Promise.allSettled([write(), write()]);
  await write();
  await expectWhole();
});

it('lets one process write at a time', async () => {
  let inside = 0;
  const both = await Promise.all(
    [1, 2].map(() =>
      withLock(world.database, 'lake', world.context.signal, async (signal, fence) => {
        inside += 1;
        await newWriter().run(signal, fence);
        return inside;
      }),
    ),
  );
  expect(both.filter((each) => each !== undefined).length).toBe(inside);
});

it('keeps the tables as they are while the store refuses writes, and goes on by itself', async () => {
  await rebuildAll();
  const before = await lake().tables();
  const full = new PackhouseError({ code: 'DISK_FULL', message: 'No space is left.' });
  const refusing = { put: () => Promise.reject(full) };
  const objectStore = Object.assign(Object.create(world.objectStore), refusing) as ObjectStore;
  await expect(write({ objectStore })).rejects.toMatchObject({ code: 'DISK_FULL' });
  expect(await lake().tables()).toEqual(before);
  await expectWhole();
  await write();
  await expectWhole();
});

it('goes on after Postgres ended its sessions in the middle', async () => {
  await rebuildAll();
  let puts = 0;
  const put: ObjectStore['put'] = async (...object) => {
    const result = await world.objectStore.put(...object);
    puts += 1;
    if (puts % 4 === 0) {
      await sql(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
    }
    return result;
  };
  const objectStore = Object.assign(Object.create(world.objectStore), { put }) as ObjectStore;
  for (let tries = 0; tries < 20; tries += 1) {
    const failed = await write({ objectStore }).then(
      () => false,
      (error: unknown) => error instanceof PackhouseError,
    );
    if (!failed) break;
  }
  expect(puts).toBeGreaterThan(4);
  await expectWhole();
});

it('names a bundle that is missing, and writes it once it is back', async () => {
  const { alarms, bundles } = world.database.network('main');
  const row = await bundles.covering('traces', FIRST);
  const key = row?.objectKey ?? '';
  const sound = await world.objectStore.read(key);
  await world.objectStore.delete(key);
  await lake().rebuild('traces', EVERYTHING);
  await write();
  const [alarm] = (await alarms.list()).filter(({ name }) => name === 'LAKE_INCOMPLETE');
  expect(alarm?.message).toContain(key);
  await putRaw(world.objectStore, key, sound);
  await write();
  expect(await alarms.list()).toEqual([]);
  await expectWhole();
});

it('leaves a table that a newer version wrote as it is, names it, and writes the others', async () => {
  const { alarms } = world.database.network('main');
  const newer = `'[{"id": 99, "name": "of_a_later_version", "type": "long", "required": false}]'::jsonb`;
  await sql(`UPDATE packhouse.lake_table SET fields = fields || ${newer} WHERE kind = 3`);
  await rebuildAll();
  await write();
  const [alarm] = await alarms.list();
  expect(alarm?.message).toContain('main logs: The column of_a_later_version is gone');
  expect((await lake().toRebuild('logs')).length).toBeGreaterThan(0);
  expect(await lake().toRebuild('traces')).toEqual([]);
  await sql(
    `UPDATE packhouse.lake_table SET fields = jsonb_path_query_array(fields, '$[*] ? (@.id != 99)') WHERE kind = 3`,
  );
  await write();
  expect(await alarms.list()).toEqual([]);
  await expectWhole();
});

it('ends with the same objects however often a sweep is killed', async () => {
  await rebuildAll();
  await write();
  const sha256 = randomBytes(32).toString('hex');
  // An expired file with other bytes than those that took its place.
  await sql(
    `UPDATE packhouse.lake_file SET object_key = '_lake/main/logs/${FIRST}-${FIRST}-${sha256.slice(0, 16)}.parquet'
     WHERE kind = 3 AND first_block = ${FIRST} AND removed_snapshot IS NOT NULL`,
  );
  const kept = (await lake().newest('logs', EVERYTHING)).map(({ objectKey }) => objectKey);
  for (let death = 0; ; death += 1) {
    const parts = { ...world, ...dyingSweep(death) };
    const died = await deleteExpired(parts, 'main', { keepMs: 0, signal: world.context.signal }).then(
      () => false,
      (error: Error) => error.message === 'killed' || Promise.reject(error),
    );
    if (!died) break;
  }
  expect(await lake().expired(0, 1)).toEqual([]);
  for (const key of kept) expect(await world.objectStore.head(key), key).not.toBeNull();
  await expectWhole();
});

/** A database and a store of which a step of a sweep dies, before or after it was done; a few steps live each time. */
function dyingSweep(death: number): { database: Database; objectStore: ObjectStore } {
  let step = 0;
  const dying =
    <A extends unknown[], T>(act: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (step++ === death % 12) throw new Error('killed');
      const result = await act(...args);
      if (step++ === death % 12) throw new Error('killed');
      return result;
    };
  const main = world.database.network('main');
  const { expire, forget } = main.lake;
  const dyingLake = { ...main.lake, expire: dying(expire), forget: dying(forget) };
  const database = Object.assign(Object.create(world.database), {
    network: () => ({ ...main, lake: dyingLake }),
  });
  const objectStore = Object.assign(Object.create(world.objectStore), {
    delete: dying((key: string) => world.objectStore.delete(key)),
  });
  return { database, objectStore } as { database: Database; objectStore: ObjectStore };
}

it('sweeps a network though another one is behind', async () => {
  await world.database.networks.register({ id: 'other', chainId: 1 });
  // Entries of bundles that are not there: four cells to look at, with a clock by which each takes longer than a turn.
  await sql(
    `INSERT INTO packhouse.manifest SELECT (jsonb_populate_record(m, jsonb_build_object('network_id', n.id))).*
     FROM packhouse.manifest AS m, packhouse.network AS n WHERE n.name = 'other'`,
  );
  const orphan = `_lake/main/logs/1-2-${'0'.repeat(16)}.parquet`;
  await putRaw(world.objectStore, orphan, Buffer.from('x'));
  let elapsed = 0;
  const clock = { ...world.context.clock, now: () => Date.now() + 7_200_000, elapsed: () => elapsed };
  const network = (name: string) => {
    const own = world.database.network(name);
    const control = (): ReturnType<typeof own.lake.control> => {
      if (name === 'other') elapsed += 60_000;
      return own.lake.control();
    };
    return { ...own, lake: { ...own.lake, control } };
  };
  const writer = createLakeWriter({
    ...world,
    context: { ...world.context, clock },
    database: Object.assign(Object.create(world.database), { network }) as Database,
    networks: () => [world.network, { ...world.network, id: 'other' }],
    grid: { ...GRID, sizes: [10, 5] },
  });
  expect(await writer.run(world.context.signal)).toBe(true);
  expect(await world.objectStore.head(orphan)).toBeNull();
});
