import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashAt, makeBundle, makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());
beforeEach(async () => {
  await open.sql(`TRUNCATE packhouse.staged_block, packhouse.fragment, packhouse.bundle, packhouse.abandoned_block,
    packhouse.published, packhouse.published_run, packhouse.published_chunk, packhouse.head`);
});

const window = async () => open.main.feed.parse(await open.main.feed.window());

describe('the window of the newest blocks', () => {
  it('has what is staged, by kind, and what is published from its floor on', async () => {
    await open.main.staging.stage(makeRun(0, 9, { kinds: ['logs', 'blocks'] }));
    await open.main.staging.stage(makeRun(10, 11, { kinds: ['logs'] }));
    await open.main.bundles.publish(makeBundle('logs', 0, 5));
    await open.main.head.set({ number: 11, hash: hashAt(11), finalized: 7 });
    const { blocks, ranges, bundles, ...rest } = await window();
    expect(rest).toEqual({
      head: 11,
      finalized: 7,
      finalHash: hashAt(7),
      halted: false,
      floor: 0,
      repairs: new Map(),
    });
    expect(blocks).toHaveLength(12);
    expect(blocks[3]).toEqual({ number: 3, hash: hashAt(3), parentHash: hashAt(2) });
    expect(ranges).toEqual(
      new Map([
        ['blocks', [{ firstBlock: 0, lastBlock: 9 }]],
        ['logs', [{ firstBlock: 0, lastBlock: 11 }]],
      ]),
    );
    const { firstBlock, lastBlock, byteLength, sha256, lastHash } = makeBundle('logs', 0, 5);
    const file = { firstBlock, lastBlock, byteLength, sha256, version: 1, lastHash };
    expect(bundles).toEqual(new Map([['logs', [file]]]));
  });

  it('is final as far as anything is published, also before a head is known', async () => {
    await open.main.bundles.publish(makeBundle('logs', 0, 5));
    expect(await window()).toMatchObject({ head: 5, finalized: 5, blocks: [] });
    expect((await window()).bundles.get('logs')).toHaveLength(1);
  });

  it('begins with the bundle that reaches over its floor, however many there are below', async () => {
    for (let first = 0; first < 1_000; first += 100)
      await open.main.bundles.publish(makeBundle('logs', first, first + 99));
    await open.main.head.set({ number: 1_100, hash: hashAt(1_100), finalized: 1_000 });
    const { floor, bundles } = await window();
    expect(floor).toBe(745);
    expect(bundles.get('logs')?.map(({ firstBlock }) => firstBlock)).toEqual([700, 800, 900]);
  });

  it('knows the hash of the newest final block by its child if it is reclaimed', async () => {
    await open.main.staging.stage(makeRun(1_024, 1_026));
    await open.main.head.set({ number: 1_026, hash: hashAt(1_026), finalized: 1_023 });
    expect(await window()).toMatchObject({ finalHash: hashAt(1_023) });
  });

  it('is the same text while nothing changes', async () => {
    await open.main.staging.stage(makeRun(0, 3));
    const before = await open.main.feed.window();
    await open.main.head.set({ number: 3, hash: hashAt(3), finalized: -1 });
    const after = await open.main.feed.window();
    await open.main.head.set({ number: 3, hash: hashAt(3), finalized: -1 });
    expect(after).not.toBe(before);
    expect(await open.main.feed.window()).toBe(after);
  });
});

describe('a branch', () => {
  const abandoned = (number: number) => ({ number, hash: hashAt(number), parentHash: hashAt(number - 1) });

  it('is walked down to the block that stays', async () => {
    await open.main.staging.stage(makeRun(0, 9));
    await open.main.staging.abandon(7);
    expect(await open.main.feed.branch({ block: 9, hash: hashAt(9) })).toEqual({
      abandoned: [abandoned(9), abandoned(8), abandoned(7)],
      staged: true,
      more: false,
    });
    expect(await open.main.feed.branch({ block: 6, hash: hashAt(6) })).toEqual({
      abandoned: [],
      staged: true,
      more: false,
    });
  });

  it('ends where the chain came back to it', async () => {
    await open.main.staging.stage(makeRun(0, 9));
    await open.main.staging.abandon(7);
    await open.main.staging.stage(makeRun(7, 8));
    expect(await open.main.feed.branch({ block: 9, hash: hashAt(9) })).toMatchObject({
      abandoned: [abandoned(9)],
      staged: true,
    });
  });

  it('says that another block is staged in place of an unknown one', async () => {
    await open.main.staging.stage(makeRun(0, 9));
    expect(await open.main.feed.branch({ block: 9, hash: hashAt(9, 'b') })).toMatchObject({ staged: false });
    expect(await open.main.feed.branch({ block: 10, hash: hashAt(10) })).toMatchObject({ staged: null });
  });
});

it('reads what is staged anywhere', async () => {
  await open.main.staging.stage(makeRun(20, 29, { kinds: ['logs'], blocksAFragment: 5 }));
  const part = await open.main.feed.staged({ firstBlock: 22, lastBlock: 23 });
  expect(part.blocks.map(({ number }) => number)).toEqual([22, 23]);
  expect(part.ranges).toEqual(new Map([['logs', [{ firstBlock: 20, lastBlock: 24 }]]]));
});

it('finds repairs by their entries in the manifest, in a window and after any position', async () => {
  const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
  await open.database.manifest.registerKey(signer.publicKey);
  const sealing = { signer, clients: [] };
  const before = makeBundle('logs', 0, 5);
  await open.main.bundles.publish(before, sealing);
  await open.main.bundles.publish(makeBundle('logs', 6, 9), sealing);
  const sha256 = 'ab'.repeat(32);
  const repaired = { ...before, sha256, objectKey: 'main/logs/0-5.v2.json.gz' };
  await open.main.bundles.supersede(repaired, { sealing, replaces: before.sha256, reason: 'a test' });
  const repair = { sequence: 2, firstBlock: 0, lastBlock: 5, sha256, supersedes: before.sha256 };
  expect((await window()).repairs).toEqual(new Map([['logs', [repair]]]));
  expect(await open.main.feed.repairs('logs', 1, 10)).toEqual([repair]);
  expect(await open.main.feed.repairs('logs', 2, 10)).toEqual([]);
});
