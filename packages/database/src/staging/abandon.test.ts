import { KINDS } from '@packhouse/chain';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { hashAt, makeBundle, makeRun } from '../testing/make-run.js';
import { emptyTables, type OpenDatabase, openDatabase } from '../testing/open-database.js';
import { SEGMENT_BLOCKS } from './segments.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());
beforeEach(() => emptyTables(open));

it('drops everything from a block up, in every segment, and remembers the hashes', async () => {
  await open.main.staging.stage(makeRun(SEGMENT_BLOCKS - 4, SEGMENT_BLOCKS - 1));
  await open.main.staging.stage(makeRun(SEGMENT_BLOCKS, SEGMENT_BLOCKS + 3));
  expect(await open.main.staging.abandon(SEGMENT_BLOCKS - 2)).toEqual({ abandoned: 6 });
  expect((await open.main.staging.newest())?.number).toBe(SEGMENT_BLOCKS - 3);
  expect(await open.main.coverage('logs')).toMatchObject({
    staged: [{ firstBlock: SEGMENT_BLOCKS - 4, lastBlock: SEGMENT_BLOCKS - 3 }],
  });
  expect(await open.main.staging.abandonedAt(SEGMENT_BLOCKS + 3)).toEqual({
    hash: hashAt(SEGMENT_BLOCKS + 3),
    at: expect.any(Date),
  });
  expect(await open.main.staging.abandonedAt(SEGMENT_BLOCKS - 3)).toBeNull();
});

it('lets the other branch take the place, and then does not call the block abandoned any more', async () => {
  await open.main.staging.stage(makeRun(0, 5));
  await open.main.staging.abandon(3);
  await open.main.staging.stage({ ...makeRun(3, 4, { branch: 'b' }), blocks: linked(3, 4) });
  expect(await open.main.staging.abandonedAt(4)).toBeNull();
  expect(await open.main.staging.abandonedAt(5)).toMatchObject({ hash: hashAt(5) });
});

/** Blocks of branch b on top of branch a. */
function linked(start: number, end: number) {
  return makeRun(start, end, { branch: 'b' }).blocks.map((block, index) =>
    index === 0 ? { ...block, parentHash: hashAt(start - 1) } : block,
  );
}

it('drops a fragment that reaches over the border whole, so that what is left is a hole and not half a fragment', async () => {
  await open.main.staging.stage(makeRun(0, 7, { kinds: ['logs'], blocksAFragment: 4 }));
  expect(await open.main.staging.abandon(6)).toEqual({ abandoned: 2 });
  expect(await open.main.coverage('logs')).toMatchObject({ staged: [{ firstBlock: 0, lastBlock: 3 }] });
  expect(await open.main.staging.stage(makeRun(4, 5, { kinds: ['logs'] }))).toEqual({ staged: true });
});

it('refuses to touch what is published', async () => {
  await open.main.staging.stage(makeRun(0, 9));
  await open.main.bundles.publish(makeBundle('logs', 0, 5));
  await expect(open.main.staging.abandon(5)).rejects.toMatchObject({ code: 'STAGE_CONFLICT' });
  expect(await open.main.staging.blocks({ firstBlock: 0, lastBlock: 9 })).toHaveLength(10);
  expect(await open.main.staging.abandon(6)).toEqual({ abandoned: 4 });
});

it('forgets hashes after 400 days', async () => {
  await open.main.staging.stage(makeRun(0, 3));
  await open.main.staging.abandon(2);
  await open.sql(
    "UPDATE packhouse.abandoned_block SET abandoned_at = now() - interval '401 days' WHERE block = 3",
  );
  await open.main.staging.reclaim();
  expect(await open.main.staging.abandonedAt(3)).toBeNull();
  expect(await open.main.staging.abandonedAt(2)).not.toBeNull();
});

it('forgets that a block was abandoned when it is dropped as published: the chain came back to it', async () => {
  await open.main.staging.stage(makeRun(0, 3));
  await open.main.staging.abandon(2);
  await open.main.staging.stage(makeRun(2, 2));
  for (const kind of KINDS) await open.main.bundles.publish(makeBundle(kind, 0, 2));
  expect(await open.main.staging.reclaim()).toEqual([0]);
  expect(await open.sql('SELECT block::int4 FROM packhouse.abandoned_block')).toEqual([{ block: 3 }]);
});
