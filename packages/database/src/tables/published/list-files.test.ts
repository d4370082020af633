import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeBundle } from '../../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';
import { selectFiles } from './bundles.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const starts = async (firstBlock: number, lastBlock: number, limit = 10): Promise<number[]> =>
  (await open.main.bundles.files('logs', { firstBlock, lastBlock }, limit)).map((file) => file.firstBlock);

it('lists the bundles that touch a range, the first ones of it, with their facts', async () => {
  const bundles = [
    [0, 9],
    [10, 10],
    [20, 29],
    [30, 39],
  ].map(([start, end]) => makeBundle('logs', start as number, end as number));
  for (const bundle of bundles) await open.main.bundles.publish(bundle);
  await open.main.bundles.publish(makeBundle('blocks', 40, 49));
  expect(await open.main.bundles.files('logs', { firstBlock: 0, lastBlock: 9 }, 10)).toEqual(
    bundles.slice(0, 1).map(({ firstBlock, lastBlock, byteLength, sha256, lastHash }) => ({
      firstBlock,
      lastBlock,
      byteLength,
      sha256,
      version: 1,
      lastHash,
    })),
  );
  expect(await starts(5, 25)).toEqual([0, 10, 20]);
  expect(await starts(11, 19)).toEqual([]);
  expect(await starts(15, 20)).toEqual([20]);
  expect(await starts(39, Number.MAX_SAFE_INTEGER)).toEqual([30]);
  expect(await starts(0, Number.MAX_SAFE_INTEGER)).toEqual([0, 10, 20, 30]);
  expect(await starts(0, Number.MAX_SAFE_INTEGER, 2)).toEqual([0, 10]);
  expect(
    await open.database.network('nowhere').bundles.files('logs', { firstBlock: 0, lastBlock: 9 }, 1),
  ).toEqual([]);
});

it('reads one page of the index anywhere in 300,000 bundles', async () => {
  await open.sql('TRUNCATE packhouse.bundle');
  // Its GiST index makes most of the time that so many rows take.
  await open.sql('ALTER TABLE packhouse.bundle DROP CONSTRAINT bundle_overlap');
  await open.sql(`INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length,
      proofs, format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
    SELECT 1, 3, n * 10, n * 10 + 9, 7, 1, 0, 1, decode(repeat('ab', 32), 'hex'), '', '', '', '', ''
    FROM generate_series(0, 299999) n`);
  await open.sql('VACUUM (ANALYZE) packhouse.bundle');
  for (const [start, end] of [
    [0, 9_007_199_254_740_991],
    [1_500_005, 9_007_199_254_740_991],
    [1_500_005, 1_600_000],
    [2_999_995, 2_999_999],
    [5_000_000, 6_000_000],
  ]) {
    const [row] = await open.sql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${selectFiles.text}`,
      [1, 3, start, end, 1_000],
    );
    const plan = row?.['QUERY PLAN'][0].Plan as PlanNode;
    const text = JSON.stringify(plan);
    expect(text).not.toContain('Seq Scan');
    expect(text).not.toContain('Bitmap');
    expect(text).toContain('bundle_pkey');
    // 1,000 rows of some 150 bytes, and the way down the index twice; the whole table has 6,000 pages and more.
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(100);
  }
});

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}
