import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeBundle } from '../../testing/make-run.js';
import { type OpenDatabase, openSignedDatabase, SEALING } from '../../testing/open-database.js';
import { selectTouching } from './manifest.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openSignedDatabase();
});
afterAll(() => open.close());

it('finds the entries that touch a range, all versions, in the order of the log', async () => {
  const { bundles, manifest } = open.main;
  // Not in the order of blocks: ranges of 0, 1, 2, … in the log.
  for (const start of [40, 0, 20, 10]) await bundles.publish(makeBundle('logs', start, start + 9), SEALING);
  const old = makeBundle('logs', 10, 19);
  await bundles.supersede(
    { ...old, objectKey: old.objectKey.replace('.json.gz', '.v2.json.gz'), sha256: 'cd'.repeat(32) },
    { replaces: old.sha256, reason: 'test', sealing: SEALING },
  );
  await bundles.publish(makeBundle('blocks', 0, 99), SEALING);

  const all = { after: -1, last: 4, limit: 10 };
  const touching = (firstBlock: number, lastBlock: number, within = all) =>
    manifest.touching('logs', { firstBlock, lastBlock }, within);
  expect(await touching(0, 100)).toEqual([0, 1, 2, 3, 4]);
  expect(await touching(15, 25)).toEqual([2, 3, 4]);
  expect(await touching(19, 19)).toEqual([3, 4]);
  expect(await touching(9, 9)).toEqual([1]);
  expect(await touching(30, 39)).toEqual([]);
  expect(await touching(35, 40)).toEqual([0]);
  expect(await touching(50, Number.MAX_SAFE_INTEGER)).toEqual([]);
  expect(await touching(0, 100, { ...all, after: 1 })).toEqual([2, 3, 4]);
  expect(await touching(0, 100, { ...all, last: 3 })).toEqual([0, 1, 2, 3]);
  expect(await touching(0, 100, { ...all, limit: 2 })).toEqual([0, 1]);

  const entries = await manifest.entries('logs', -1, 10);
  expect(await manifest.entriesAt('logs', [4, 0, 2, 77])).toEqual([entries[0], entries[2], entries[4]]);
  expect(await manifest.entriesAt('logs', [])).toEqual([]);
});

it('reads a part of 300,000 entries from the index of ranges', async () => {
  await open.sql(`INSERT INTO packhouse.manifest (first_block, last_block, byte_length, raw_length, published_at,
      sequence, proofs, origin_id, network_id, kind, version, key_id, sha256, first_hash, first_parent_hash, last_hash,
      hash, signature, supersedes)
    SELECT n * 10, n * 10 + 9, 7, 7, now(), n, 0, 1, 1, 3, 1, 1, h, h, h, h, h, h || h, ''
    FROM generate_series(5, 300004) n, (SELECT decode(repeat('ab', 32), 'hex') AS h) one`);
  await open.sql('VACUUM (ANALYZE) packhouse.manifest');
  for (const [start, end, most] of [
    [0, 1_000, 30],
    [1_500_005, 1_501_000, 30],
    [2_999_995, 9_007_199_254_740_991, 30],
    // A third of the log; rows that no VACUUM has seen are looked at as well. The log has 13,000 pages.
    [1_000_000, 2_000_000, 6_000],
  ] as const) {
    const [row] = await open.sql<{ 'QUERY PLAN': [{ Plan: PlanNode; 'Execution Time': number }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${selectTouching.text}`,
      [1, 3, start, end, -1, 400_000, 10_001],
    );
    const plan = row?.['QUERY PLAN'][0].Plan as PlanNode;
    const text = JSON.stringify(plan);
    expect(text).not.toContain('Seq Scan');
    expect(text).not.toContain('manifest_pkey');
    expect(text).toContain('manifest_range');
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(most);
  }
});

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}
