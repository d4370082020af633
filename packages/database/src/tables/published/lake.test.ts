import { runSql } from '@packhouse/local';
import {
  createSigner,
  createVerifier,
  makeSigningKey,
  readSigningKey,
  toPublicKey,
} from '@packhouse/manifest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type OpenDatabase, openSignedDatabase, SIGNER } from '../../testing/open-database.js';

const EVERYTHING = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };
const HEAD = { sequence: 7, hash: 'ab'.repeat(32), signature: 'c2ln' };

let open: OpenDatabase;
beforeAll(async () => {
  open = await openSignedDatabase();
});
beforeEach(async () => {
  for (const table of ['lake_file', 'lake_table']) await runSql(open.url, `DELETE FROM packhouse.${table}`);
});
afterAll(() => open.close());

const file = (firstBlock: number, lastBlock: number, digit = 'a') => ({
  firstBlock,
  lastBlock,
  rows: 10,
  bytes: 100,
  sha256: digit.repeat(64),
  sources: 'cd'.repeat(32),
  objectKey: `_lake/main/logs/${firstBlock}-${lastBlock}-${digit.repeat(16)}.parquet`,
  stats: { 1: { min: '0', max: '9', nulls: 0 } },
  lacks: {},
});
const commit = (remove: number[], add: ReturnType<typeof file>[]): Promise<void> =>
  open.main.lake.commit(
    'logs',
    { fields: [], heads: { logs: HEAD }, remove, add, signer: SIGNER },
    undefined,
  );
const view = (snapshot: number, maxBlock = 1_000) => ({ kind: 'logs' as const, snapshot, maxBlock });
const newest = async (): Promise<string[]> =>
  (await open.main.lake.newest('logs', EVERYTHING)).map((each) => `${each.firstBlock}-${each.lastBlock}`);

describe('a table of the lake', () => {
  it('has a snapshot for each commit that changes files; earlier ones stay as they were', async () => {
    await commit([], [file(0, 9), file(10, 14)]);
    await commit([10], [file(10, 19), file(30, 39)]);
    await commit([], []);
    const [table] = await open.main.lake.tables();
    expect(table).toMatchObject({ kind: 'logs', snapshot: 2, oldestSnapshot: 1, heads: { logs: HEAD } });
    const range = (firstBlock: number, lastBlock: number) => ({ firstBlock, lastBlock });
    expect(await open.main.lake.ranges(view(1), 9)).toEqual([range(0, 14)]);
    expect(await open.main.lake.ranges(view(2), 9)).toEqual([range(0, 19), range(30, 39)]);
    expect(await open.main.lake.ranges(view(2), 1)).toEqual([range(0, 19)]);
    expect(await open.main.lake.ranges(view(2, 35), 9)).toEqual([range(0, 19)]);
    const [chunk] = await open.main.lake.chunks({ ...view(2), chunkBlocks: 1_000 });
    expect(chunk).toMatchObject({ chunk: 0, files: 3, rows: 30, bytes: 300, changedSnapshot: 2 });
    const files = await open.main.lake.files(view(1), { firstBlock: 10, lastBlock: 19 }, 9);
    expect(files).toMatchObject([{ firstBlock: 10, lastBlock: 14, addedSnapshot: 1 }]);
    expect(await open.main.lake.lastBlock('logs')).toBe(39);
    expect(await open.main.lake.lastBlock('traces')).toBeNull();
  });

  it('refuses a block in two files, and changes nothing then', async () => {
    await commit([], [file(0, 9)]);
    await expect(commit([], [file(20, 29), file(5, 12)])).rejects.toThrow('lake_file_overlap');
    expect(await newest()).toEqual(['0-9']);
    expect((await open.main.lake.tables())[0]?.snapshot).toBe(1);
    const entries = await open.main.lakeLog.entries('logs', -1, 1_000);
    expect(entries.at(-1)).toMatchObject({ change: 'add', from: 0, to: 9 });
  });

  it('appends each file that leaves or arrives to a signed log, whoever commits at the same time', async () => {
    const before = (await open.main.lakeLog.tip('logs'))?.sequence ?? -1;
    await commit([], [file(0, 9)]);
    await Promise.all([1, 2, 3, 4].map((at) => commit([], [file(at * 10, at * 10 + 9)])));
    await commit([10, 20], [file(10, 29, 'b')]);
    const verifier = createVerifier(new Map([[SIGNER.keyId, toPublicKey(SIGNER.publicKey)]]));
    const entries = await open.main.lakeLog.entries('logs', -1, 1_000);
    for (const entry of entries) verifier.push(entry);
    const last = entries.slice(before + 1 + 5);
    expect(last.map(({ change, file: name }) => `${change} ${name}`)).toEqual([
      `remove 10-19-${'a'.repeat(16)}.parquet`,
      `remove 20-29-${'a'.repeat(16)}.parquet`,
      `add 10-29-${'b'.repeat(16)}.parquet`,
    ]);
    const { sequence, hash, signature } = entries.at(-1) ?? {};
    expect((await open.main.lake.tables())[0]?.logHead).toEqual({ sequence, hash, signature });
    await expect(runSql(open.url, 'UPDATE packhouse.lake_entry SET row_count = 0')).rejects.toThrow(
      'an entry of the manifest never changes',
    );
  });

  it('signs nothing with a retired key', async () => {
    const other = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
    const change = { fields: [], heads: {}, remove: [], add: [file(0, 9)], signer: other };
    await expect(open.main.lake.commit('logs', change, undefined)).rejects.toMatchObject({
      code: 'SIGNING_KEY_CHANGED',
    });
    expect(await open.main.lake.tables()).toEqual([]);
  });

  it('gives up replaced files after their time, and then no snapshot that has them', async () => {
    await commit([], [file(0, 9), file(10, 19)]);
    await commit([0], [file(0, 9, 'b')]);
    expect(await open.main.lake.expired(3_600_000, 9)).toEqual([]);
    const [expired] = await open.main.lake.expired(0, 9);
    if (expired === undefined) throw new Error('nothing has expired');
    expect(expired).toMatchObject({ kind: 'logs', firstBlock: 0, addedSnapshot: 1, removedSnapshot: 2 });
    await open.main.lake.expire(expired);
    expect((await open.main.lake.tables())[0]?.oldestSnapshot).toBe(2);
    await open.main.lake.forget(expired);
    expect(await open.main.lake.expired(0, 9)).toEqual([]);
    expect(await open.main.lake.file('logs', expired, expired.objectKey)).toBeNull();
    expect(await newest()).toEqual(['0-9', '10-19']);
  });

  it('marks the files of a range to be written again, until they are replaced', async () => {
    await commit([], [file(0, 9), file(10, 19), file(20, 29)]);
    expect(await open.main.lake.rebuild('logs', { firstBlock: 9, lastBlock: 10 })).toBe(2);
    expect(await open.main.lake.rebuild('logs', { firstBlock: 9, lastBlock: 10 })).toBe(0);
    await commit([0], [file(0, 9, 'b')]);
    expect(await open.main.lake.toRebuild('logs')).toEqual([{ firstBlock: 10, lastBlock: 19 }]);
  });

  it('is written as operators say, each field for itself', async () => {
    expect(await open.main.lake.control()).toEqual({ paused: false, windows: [], share: 1 });
    await open.main.lake.setControl({ paused: true });
    await open.main.lake.setControl({ windows: ['Sat,Sun'], share: 0.5 });
    expect(await open.main.lake.control()).toEqual({ paused: true, windows: ['Sat,Sun'], share: 0.5 });
    await open.main.lake.setControl({ windows: [] });
    expect(await open.main.lake.control()).toEqual({ paused: true, windows: [], share: 0.5 });
  });
});
