import type { TableName } from '@packhouse/chain';
import type { LakeFile } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { createLakeWriter } from './lake-writer.js';

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
beforeEach(async () => {
  for (const table of ['lake_file', 'lake_table', 'lake_control'])
    await runSql(world.databaseUrl, `DELETE FROM packhouse.${table}`);
});
afterAll(() => world.close());

const lake = () => world.database.network('main').lake;
const newWriter = (parts: Partial<World> = {}) =>
  createLakeWriter({ ...world, ...parts, networks: () => [world.network], grid: GRID });
const rangesOf = async (table: TableName): Promise<string[]> =>
  (await lake().newest(table, EVERYTHING)).map(
    ({ firstBlock, lastBlock }: LakeFile) => `${firstBlock}-${lastBlock}`,
  );
const ALL = ['1004-1004', '1005-1009', '1010-1019', '1020-1029', '1030-1031'];

it('writes nothing while it is paused, in any process, and everything after it is resumed', async () => {
  await lake().setControl({ paused: true });
  expect(await newWriter().run(world.context.signal)).toBe(false);
  expect(await lake().tables()).toEqual([]);
  await lake().setControl({ paused: false });
  await newWriter().run(world.context.signal);
  expect(await rangesOf('logs')).toEqual(ALL);
});

it('writes the newest blocks outside of the windows of history, and the rest within', async () => {
  // Saturday noon.
  const at = (date: string): Partial<World> => ({
    context: { ...world.context, clock: { ...world.context.clock, now: () => Date.parse(date) } },
  });
  await lake().setControl({ windows: ['Mon-Fri 08:00-18:00'] });
  const closed = newWriter(at('2026-11-28T12:00Z'));
  expect(await closed.run(world.context.signal)).toBe(false);
  expect(await rangesOf('traces')).toEqual(['1020-1029', '1030-1031']);
  expect((await lake().tables()).every(({ heads }) => Object.keys(heads).length === 0)).toBe(true);
  await newWriter(at('2026-11-27T12:00Z')).run(world.context.signal);
  expect(await rangesOf('traces')).toEqual(ALL);
});

it('writes new blocks while it writes history', async () => {
  const other = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, LENGTH) }], {
    maxBlocks: 7,
  });
  try {
    await other.want(FIRST, FIRST + 17);
    await other.noteHead();
    await other.settle();
    const main = other.database.network('main');
    const committed: string[] = [];
    let isPublished = false;
    const commit: typeof main.lake.commit = async (kind, change, fence) => {
      const result = await main.lake.commit(kind, change, fence);
      for (const { firstBlock } of change.add) committed.push(`${kind} ${firstBlock}`);
      if (!isPublished && change.add.some(({ firstBlock }) => firstBlock < 1_010)) {
        isPublished = true;
        await other.want(FIRST + 18, LAST);
        await other.settle();
      }
      return result;
    };
    const database = Object.assign(Object.create(other.database), {
      network: () => ({ ...main, lake: { ...main.lake, commit } }),
    });
    let elapsed = 0;
    // From then on, each look at the clock is long after the one before.
    const clock = {
      ...other.context.clock,
      elapsed() {
        if (isPublished) elapsed += 16_000;
        return elapsed;
      },
    };
    const writer = createLakeWriter({
      ...other,
      database,
      context: { ...other.context, clock },
      networks: () => [other.network],
      grid: GRID,
    });
    while (await writer.run(other.context.signal));
    const history = committed.findLastIndex((each) => / 10(04|05|10)$/.test(each));
    expect(committed.indexOf('logs 1030')).toBeGreaterThan(-1);
    expect(committed.indexOf('logs 1030')).toBeLessThan(history);
    for (const { kind, snapshot } of await main.lake.tables()) {
      const view = { kind, snapshot, maxBlock: LAST };
      expect(await main.lake.ranges(view, 9), kind).toEqual([{ firstBlock: FIRST, lastBlock: LAST }]);
    }
  } finally {
    await other.close();
  }
});

it('rests for its share of the time after each file of history', async () => {
  const slept: number[] = [];
  const clock = {
    ...world.context.clock,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
  await lake().setControl({ share: 0.25 });
  await newWriter({ context: { ...world.context, clock } }).run(world.context.signal);
  // Three of the five files of each of six tables are history.
  expect(slept).toHaveLength(18);
  expect(slept.every((ms) => ms > 0)).toBe(true);
});

it('writes a range again, each file by a snapshot of its own, with rows of every block at any time', async () => {
  await newWriter().run(world.context.signal);
  const before = await lake().newest('logs', EVERYTHING);
  expect(await lake().rebuild('logs', { firstBlock: 1_009, lastBlock: 1_019 })).toBe(2);
  expect(await lake().rebuild('logs', { firstBlock: 1_009, lastBlock: 1_019 })).toBe(0);
  await newWriter().run(world.context.signal);
  const after = await lake().newest('logs', EVERYTHING);
  expect(after.map(({ sha256 }) => sha256)).toEqual(before.map(({ sha256 }) => sha256));
  const changed = after.filter(({ addedSnapshot }, index) => addedSnapshot !== before[index]?.addedSnapshot);
  expect(changed.map(({ firstBlock }) => firstBlock)).toEqual([1_005, 1_010]);
  expect(await lake().toRebuild('logs')).toEqual([]);
  const [table] = (await lake().tables()).filter(({ kind }) => kind === 'logs');
  for (let snapshot = before.length; snapshot <= (table?.snapshot ?? 0); snapshot += 1) {
    const view = { kind: 'logs' as const, snapshot, maxBlock: LAST };
    expect(await lake().ranges(view, 9)).toEqual([{ firstBlock: FIRST, lastBlock: LAST }]);
  }
});

it('counts what it wrote', async () => {
  await newWriter().run(world.context.signal);
  const text = await world.context.metrics.render();
  const rows = (await lake().newest('blocks', EVERYTHING)).reduce((sum, file) => sum + file.rows, 0);
  expect(rows).toBe(LENGTH);
  expect(text).toMatch(/^packhouse_lake_files_total\{network="main",table="blocks"\} \d+$/m);
});
