import { KINDS } from '@packhouse/chain';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeBundle, makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';
import { SEGMENT_BLOCKS } from './segments.js';

let open: OpenDatabase;
beforeEach(async () => {
  open = await openDatabase();
});
afterEach(() => open.close());

const publishAll = async (start: number, end: number) => {
  for (const kind of KINDS) await open.main.bundles.publish(makeBundle(kind, start, end));
};
const tables = async () =>
  (
    await open.sql<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'packhouse'::regnamespace AND relkind = 'r'
       AND relname ~ '^(fragment|staged_block)_' ORDER BY 1`,
    )
  ).map(({ name }) => name);

it('drops a segment as soon as every fragment of every kind is published, not before (invariant 7)', async () => {
  await open.main.staging.stage(makeRun(0, 9));
  await open.main.staging.stage(makeRun(SEGMENT_BLOCKS, SEGMENT_BLOCKS + 3));
  for (const kind of KINDS.slice(1)) await open.main.bundles.publish(makeBundle(kind, 0, 9));
  expect(await open.main.staging.reclaim()).toEqual([]);
  await open.main.bundles.publish(makeBundle('blocks', 0, 8));
  expect(await open.main.staging.reclaim()).toEqual([]);
  await open.main.bundles.publish(makeBundle('blocks', 9, 9));
  expect(await open.main.staging.reclaim()).toEqual([0]);
  expect(await open.main.staging.blocks({ firstBlock: 0, lastBlock: 9 })).toEqual([]);
  expect(
    await open.main.staging.blocks({ firstBlock: SEGMENT_BLOCKS, lastBlock: SEGMENT_BLOCKS + 3 }),
  ).toHaveLength(4);
  expect(await tables()).toEqual(['fragment_1_1', 'staged_block_1_1']);
});

it('gives all space back to the disk', async () => {
  const { staging } = open.database;
  const empty = await staging.diskBytes();
  const body = Buffer.alloc(200_000, 'x');
  for (let segment = 0; segment < 4; segment += 1) {
    const start = segment * SEGMENT_BLOCKS;
    const run = makeRun(start, start + 9);
    for (const { fragments } of run.kinds) for (const fragment of fragments) fragment.body = body;
    await open.main.staging.stage(run);
    await publishAll(start, start + 9);
  }
  expect(await staging.diskBytes()).toBeGreaterThan(4 * 10 * 5 * body.length);
  expect(await open.main.staging.reclaim()).toEqual([0, 1, 2, 3].map((segment) => segment * SEGMENT_BLOCKS));
  expect(await staging.diskBytes()).toBe(empty);
  expect(empty).toBe(0);
  expect(await tables()).toEqual([]);
});

it('can be repeated, and its segment can be staged anew for another kind', async () => {
  await open.main.staging.stage(makeRun(0, 3, { kinds: ['blocks'] }));
  await open.main.bundles.publish(makeBundle('blocks', 0, 3));
  expect(await open.main.staging.reclaim()).toEqual([0]);
  expect(await open.main.staging.reclaim()).toEqual([]);
  expect(await open.main.staging.stage(makeRun(0, 3, { kinds: ['blocks', 'logs'] }))).toEqual({
    staged: true,
  });
  expect(await open.main.staging.fragments('logs', { firstBlock: 0, lastBlock: 3 })).toHaveLength(4);
});

it('waits for nobody: a segment that is being read is left for the next time', async () => {
  await open.main.staging.stage(makeRun(0, 3));
  await publishAll(0, 3);
  const reader = new pg.Client({ connectionString: open.url });
  await reader.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM packhouse.fragment');
  expect(await open.main.staging.reclaim()).toEqual([]);
  // Other sessions continue: the parent is not locked, and a new segment can be created.
  expect(await open.main.staging.stage(makeRun(SEGMENT_BLOCKS, SEGMENT_BLOCKS))).toEqual({ staged: true });
  await reader.query('COMMIT');
  await reader.end();
  expect(await open.main.staging.reclaim()).toEqual([0]);
  expect(await tables()).toEqual(['fragment_1_1', 'staged_block_1_1']);
});

it.each([
  ['after the first detach', ['ALTER TABLE packhouse.fragment DETACH PARTITION packhouse.fragment_1_0']],
  [
    'after the first drop',
    [
      'ALTER TABLE packhouse.fragment DETACH PARTITION packhouse.fragment_1_0',
      'DROP TABLE packhouse.fragment_1_0',
    ],
  ],
])('finishes a drop that was killed %s, by reclaiming or by staging there', async (_, killed) => {
  for (const next of ['reclaim', 'stage'] as const) {
    await open.main.staging.stage(makeRun(0, 3, { kinds: ['blocks'] }));
    if (next === 'reclaim') await open.main.bundles.publish(makeBundle('blocks', 0, 3));
    for (const text of killed) await open.sql(text);
    if (next === 'reclaim') {
      expect(await open.main.staging.reclaim()).toEqual([0]);
      await open.sql('TRUNCATE packhouse.bundle');
    } else {
      await open.main.staging.stage(makeRun(0, 3, { kinds: ['logs'] }));
      expect(await tables()).toEqual(['fragment_1_0', 'staged_block_1_0']);
      expect(await open.main.staging.fragments('logs', { firstBlock: 0, lastBlock: 3 })).toHaveLength(4);
    }
  }
});

it('finishes a detach that timed out half-way, also when somebody stages there first', async () => {
  await open.main.staging.stage(makeRun(0, 3, { kinds: ['blocks'] }));
  await open.main.bundles.publish(makeBundle('blocks', 0, 3));
  const reader = new pg.Client({ connectionString: open.url });
  await reader.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM packhouse.fragment');
  expect(await open.main.staging.reclaim()).toEqual([]);
  const pending = 'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhdetachpending';
  expect(await open.sql(pending)).toEqual([{ name: 'packhouse.fragment_1_0' }]);
  await reader.query('COMMIT');
  await reader.end();
  expect(await open.main.staging.stage(makeRun(0, 3, { kinds: ['blocks', 'logs'] }))).toEqual({
    staged: true,
  });
  expect(await open.main.staging.fragments('logs', { firstBlock: 0, lastBlock: 3 })).toHaveLength(4);
  expect(await open.sql(pending)).toEqual([]);
});

it('loses nothing that is staged while it works', async () => {
  const runs = Array.from({ length: 20 }, (_, index) =>
    makeRun(index * 5, index * 5 + 4, { kinds: ['logs'] }),
  );
  let reclaiming = true;
  const reclaimer = (async () => {
    while (reclaiming) await open.main.staging.reclaim();
  })();
  try {
    for (const run of runs) {
      await open.main.staging.stage(run);
      expect(
        await open.main.staging.fragments('logs', {
          firstBlock: run.blocks[0]!.number,
          lastBlock: run.blocks[0]!.number,
        }),
      ).toHaveLength(1);
      await open.main.bundles.publish(makeBundle('logs', run.blocks[0]!.number, run.blocks.at(-1)!.number));
    }
  } finally {
    reclaiming = false;
    await reclaimer;
  }
  expect(await open.main.coverage('logs')).toMatchObject({ published: [{ firstBlock: 0, lastBlock: 99 }] });
  await open.main.staging.reclaim();
  expect(await tables()).toEqual([]);
});
