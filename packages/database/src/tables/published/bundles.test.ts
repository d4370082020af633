import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { makeBundle } from '../../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());
beforeEach(async () => {
  await open.sql('TRUNCATE packhouse.bundle');
});

it('gives back what was published, by any of its blocks', async () => {
  const bundle = { ...makeBundle('receipts', 100, 149), byteLength: 5_000_000_000, rawLength: 6_000_000_000 };
  await open.main.bundles.publish(bundle);
  for (const number of [100, 120, 149]) {
    expect(await open.main.bundles.covering('receipts', number)).toEqual({
      ...bundle,
      network: 'main',
      version: 1,
      publishedAt: expect.any(Date),
    });
  }
  expect(await open.main.bundles.covering('receipts', 99)).toBeNull();
  expect(await open.main.bundles.covering('receipts', 150)).toBeNull();
  expect(await open.main.bundles.covering('logs', 120)).toBeNull();
  expect(await open.database.network('nowhere').bundles.covering('receipts', 120)).toBeNull();
});

it('lists ranges that touch a range, and whole rows from a block on', async () => {
  for (const [start, end] of [
    [0, 9],
    [10, 10],
    [20, 29],
    [30, 39],
  ] as const) {
    await open.main.bundles.publish(makeBundle('logs', start, end));
  }
  expect(await open.main.bundles.ranges('logs', { firstBlock: 5, lastBlock: 25 })).toEqual([
    { firstBlock: 0, lastBlock: 9 },
    { firstBlock: 10, lastBlock: 10 },
    { firstBlock: 20, lastBlock: 29 },
  ]);
  expect(await open.main.bundles.ranges('logs', { firstBlock: 11, lastBlock: 19 })).toEqual([]);
  expect(await open.main.bundles.ranges('logs', { firstBlock: 39, lastBlock: 1_000 })).toEqual([
    { firstBlock: 30, lastBlock: 39 },
  ]);
  expect(
    await open.main.bundles.ranges('logs', { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER }),
  ).toHaveLength(4);
  expect((await open.main.bundles.list('logs', 5, 2)).map(({ firstBlock }) => firstBlock)).toEqual([10, 20]);
});

it('publishes one of ten overlapping bundles that come at the same time (invariant 2)', async () => {
  const processes = Array.from({ length: 10 }, () => open.another());
  const outcomes = await Promise.allSettled(
    processes.map((database, index) =>
      database.network('main').bundles.publish(makeBundle('blocks', index, 20 - index)),
    ),
  );
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused).toHaveLength(9);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'BUNDLE_OVERLAP' });
  expect(await open.main.bundles.totals('blocks')).toMatchObject({ bundles: 1 });
});

it('publishes all of ten bundles that do not overlap and come at the same time', async () => {
  const processes = Array.from({ length: 10 }, () => open.another());
  await Promise.all(
    processes.map((database, index) =>
      database.network('main').bundles.publish(makeBundle('blocks', index * 10, index * 10 + 9)),
    ),
  );
  expect(await open.main.coverage('blocks')).toMatchObject({
    published: [{ firstBlock: 0, lastBlock: 99 }],
  });
});

it('lets no statement make an overlap, whoever sends it, and keeps other kinds and networks apart', async () => {
  await open.database.networks.register({ id: 'other', chainId: 2 });
  const values = (network: number, kind: number, start: number, end: number) =>
    `(${network}, ${kind}, ${start}, ${end}, 1, 1, 0, 1, '', '', '', '', '', '')`;
  const insert = (row: string) =>
    open.sql(`INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
      format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments) VALUES ${row}`);
  const highest = 2 ** 48 - 1;
  const low = highest - 99;
  await insert(values(1, 0, low, highest));
  await insert(values(1, 1, low, highest));
  await insert(values(2, 0, low, highest));
  await insert(values(32_767, 4, low, highest));
  await expect(insert(values(1, 0, highest, highest))).rejects.toMatchObject({ code: '23P01' });
  await expect(insert(values(1, 1, low + 5, low + 6))).rejects.toMatchObject({ code: '23P01' });
  await expect(insert(values(1, 2, low, highest + 1))).rejects.toMatchObject({ code: '23514' });
  await expect(insert(values(1, 2, 0, 2 ** 30))).rejects.toMatchObject({
    code: '23514',
    message: 'a bundle has at most 1073741824 blocks',
  });
});

it('says what is in the way of an overlapping bundle', async () => {
  await open.main.bundles.publish(makeBundle('traces', 0, 9));
  await expect(open.main.bundles.publish(makeBundle('traces', 5, 15))).rejects.toMatchObject({
    code: 'BUNDLE_OVERLAP',
    message: expect.stringContaining('0-9'),
    data: { published: [{ firstBlock: 0, lastBlock: 9 }] },
  });
});

it('never changes a bundle once it is published (invariant 3)', async () => {
  await open.main.bundles.publish(makeBundle('traces', 0, 9));
  await expect(open.sql('UPDATE packhouse.bundle SET byte_length = 1')).rejects.toThrow('never changes');
});

it('refuses fragments that do not cover the bundle', async () => {
  const bundle = makeBundle('logs', 0, 9);
  for (const fragments of [[], bundle.fragments.slice(1), bundle.fragments.slice(0, 9)]) {
    await expect(open.main.bundles.publish({ ...bundle, fragments })).rejects.toMatchObject({
      code: 'BUNDLE_INVALID',
    });
  }
});

it('keeps totals and coverage in step with rows that are inserted, deleted and truncated in bulk', async () => {
  expect(await open.main.bundles.totals('logs')).toEqual({ bundles: 0, blocks: 0, bytes: 0, newestAt: null });
  await open.sql(`INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length,
      proofs, format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
    SELECT 1, kind, n * 10, n * 10 + 9, 7, 1, 0, 1, '', '', '', '', '', '' FROM generate_series(0, 99) n, generate_series(2, 3) kind`);
  expect(await open.main.bundles.totals('logs')).toEqual({
    bundles: 100,
    blocks: 1_000,
    bytes: 700,
    newestAt: expect.any(Date),
  });
  await open.sql('DELETE FROM packhouse.bundle WHERE first_block BETWEEN 100 AND 190');
  expect(await open.main.bundles.totals('logs')).toMatchObject({ bundles: 90, blocks: 900, bytes: 630 });
  expect((await open.main.coverage('logs')).published).toEqual([
    { firstBlock: 0, lastBlock: 99 },
    { firstBlock: 200, lastBlock: 999 },
  ]);
  await open.sql('TRUNCATE packhouse.bundle');
  expect((await open.main.coverage('receipts')).published).toEqual([]);
});
