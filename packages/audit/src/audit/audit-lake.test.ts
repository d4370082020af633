import { KINDS } from '@packhouse/chain';
import type { LakeFile } from '@packhouse/database';
import { createLakeWriter } from '@packhouse/lake';
import { runSql } from '@packhouse/local';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { auditWorld, putRaw } from '../testing/audited.js';
import type { Finding } from './finding.js';
import { runAudit } from './run-audit.js';
import { scheduledAudit } from './scheduled-audit.js';

const FIRST = 1_004;
const LENGTH = 28;
const GRID = { sizes: [20, 10, 5], larger: [], maxBytes: 10_000_000, maxBundleBytes: 10_000_000 };
const EVERYTHING = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, LENGTH) }], { maxBlocks: 7 });
  await world.want(FIRST, FIRST + LENGTH - 1);
  await world.noteHead();
  await world.settle();
  await write();
});
afterAll(() => world.close());

const write = (): Promise<boolean> =>
  createLakeWriter({ ...world, networks: () => [world.network], grid: GRID }).run(world.context.signal);
const lake = () => world.database.network('main').lake;
const getFiles = (): Promise<LakeFile[]> => lake().newest('logs', EVERYTHING);
const fileOf = async (index: number): Promise<LakeFile> => (await getFiles())[index] as LakeFile;

/** The findings of an audit about the lake. */
async function findings(): Promise<Finding[]> {
  const { findings: all } = await auditWorld(world);
  return all.filter(({ cause }) => cause === 'dataFile' || cause === 'orphan');
}

/** Audits with --repair. */
async function auditAndRebuild(): Promise<{ standing: number; rebuilt: (string | null)[] }> {
  const rebuilt: (string | null)[] = [];
  const everything = {
    networks: ['main'],
    kinds: KINDS,
    range: EVERYTHING,
    sample: 1,
    seed: '',
    objects: true,
  };
  const options = { rebuildLake: true, onRebuild: ({ key }: Finding) => rebuilt.push(key) };
  const { standing } = await runAudit(world, everything, options, world.context.signal);
  return { standing, rebuilt };
}

it('finds nothing wrong with tables that were written', async () => {
  expect(await findings()).toEqual([]);
});

it('names a damaged and a missing data file; both are written again by a new snapshot', async () => {
  const [damaged, missing] = [await fileOf(1), await fileOf(3)];
  const sound = await world.objectStore.read(damaged.objectKey);
  const changed = Buffer.from(sound);
  changed[100] = (changed[100] ?? 0) ^ 1;
  await putRaw(world.objectStore, damaged.objectKey, changed);
  await world.objectStore.delete(missing.objectKey);
  expect(await findings()).toMatchObject([
    { cause: 'dataFile', key: damaged.objectKey, expected: damaged.sha256, harmless: false },
    { cause: 'dataFile', key: missing.objectKey, got: 'no object', from: missing.firstBlock },
  ]);
  expect(await auditAndRebuild()).toEqual({ standing: 2, rebuilt: [damaged.objectKey, missing.objectKey] });
  const alarm = async (): Promise<string[]> =>
    (await world.database.alarms.list()).map(({ message }) => message);
  expect(await alarm()).toEqual([
    expect.stringMatching(
      /^2 published files of main are damaged: table logs \S+ \(sha256\); table .* \(missing\)\. /,
    ),
  ]);
  const before = (await lake().tables()).find(({ kind }) => kind === 'logs');
  await write();
  expect(await findings()).toEqual([]);
  // Files of the alarm are read, whatever the sample.
  await scheduledAudit(
    world,
    { network: 'main', share: 0, bytesPerSecond: 1e9, seed: '' },
    world.context.signal,
  );
  expect(await alarm()).toEqual([]);
  expect(await world.objectStore.read(damaged.objectKey)).toEqual(sound);
  const after = (await lake().tables()).find(({ kind }) => kind === 'logs');
  expect(after?.snapshot).toBeGreaterThan(before?.snapshot ?? 0);
  expect((await fileOf(1)).sha256).toBe(damaged.sha256);
});

it('reads a sample of the files, and within the range alone', async () => {
  const { objectKey, firstBlock, lastBlock } = await fileOf(2);
  const sound = await world.objectStore.read(objectKey);
  await putRaw(world.objectStore, objectKey, sound.subarray(1));
  const countOf = async (request: Parameters<typeof auditWorld>[1]): Promise<number | undefined> =>
    (await auditWorld(world, request)).summary.causes.dataFile;
  expect(await countOf({ range: { firstBlock, lastBlock: firstBlock } })).toBe(1);
  expect(await countOf({ range: { firstBlock: lastBlock + 1, lastBlock: lastBlock + 5 } })).toBeUndefined();
  expect(await countOf({ kinds: ['blocks'] })).toBeUndefined();
  const sampled = new Set<number | undefined>();
  for (let seed = 0; sampled.size < 2 && seed < 100; seed += 1)
    sampled.add(await countOf({ sample: 0.5, seed: String(seed), objects: false }));
  expect(sampled).toEqual(new Set([1, undefined]));
  await putRaw(world.objectStore, objectKey, sound);
});

it('names an object without a row, once it is an hour old', async () => {
  const orphan = `_lake/main/logs/1-2-${'0'.repeat(16)}.parquet`;
  await putRaw(world.objectStore, orphan, Buffer.from('x'));
  expect(await findings()).toEqual([]);
  const clock = { ...world.context.clock, now: () => Date.now() + 7_200_000 };
  const { findings: all } = await auditWorld({ ...world, context: { ...world.context, clock } });
  const about = all.filter(({ key }) => key?.startsWith('_lake/'));
  expect(about).toMatchObject([{ cause: 'orphan', key: orphan, harmless: true, kind: null }]);
  await world.objectStore.delete(orphan);
});

it('names a file that no entry of the signed log has, and an entry that was changed', async () => {
  await runSql(
    world.databaseUrl,
    "UPDATE packhouse.lake_file SET sha256 = sha256('x') WHERE kind = 3 AND first_block = 1010",
  );
  expect(await findings()).toMatchObject([
    { cause: 'dataFile', from: 1_010, message: expect.stringContaining('no entry of the signed log') },
  ]);
  await auditAndRebuild();
  await write();
  expect(await findings()).toEqual([]);
  await runSql(
    world.databaseUrl,
    'ALTER TABLE packhouse.lake_entry DISABLE TRIGGER lake_entry_is_append_only',
  );
  await runSql(
    world.databaseUrl,
    'UPDATE packhouse.lake_entry SET row_count = row_count + 1 WHERE kind = 3 AND sequence = 2',
  );
  const { findings: all } = await auditWorld(world);
  expect(all).toMatchObject([
    {
      cause: 'manifest',
      kind: 'logs',
      message: expect.stringContaining('Entry 2 of the manifest of table logs of main was changed'),
    },
  ]);
});
