import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashAt, makeBundle, makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';
import type { HoleReason, QueueHints } from './hole-reasons.js';
import type { Hole } from './holes-page.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const clear = async () => {
  await open.sql(`TRUNCATE packhouse.staged_block, packhouse.fragment, packhouse.bundle, packhouse.backfill,
    packhouse.quarantine, packhouse.head, packhouse.back_pressure, packhouse.alarm`);
};
beforeEach(clear);

const FIRST = 1_000;
const LAST = 1_060;
const SPAN = { firstBlock: FIRST, lastBlock: LAST };
const ASKED = ['blocks', 'logs'] as const satisfies readonly Kind[];
const toNumbers = ({ firstBlock, lastBlock }: BlockRange) =>
  Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => firstBlock + i);

/** The model's state of one kind, block by block. */
class KindModel {
  published = new Set<number>();
  staged = new Set<number>();
  quarantined = new Set<number>();
  wanted = new Map<'active' | 'paused' | 'cancelled', Set<number>>([
    ['active', new Set()],
    ['paused', new Set()],
    ['cancelled', new Set()],
  ]);
}

interface World {
  kinds: Map<Kind, KindModel>;
  head: number;
  finalized: number;
  full: boolean;
  halted: boolean;
  hints: QueueHints;
}

/** The reason of one block, by the rules in their simplest form; null: published. */
function getReason(world: World, kind: Kind, block: number): HoleReason | null {
  const model = world.kinds.get(kind) as KindModel;
  const wanted = (state: 'active' | 'paused' | 'cancelled') => model.wanted.get(state)?.has(block) ?? false;
  if (model.published.has(block)) return null;
  if (model.staged.has(block)) {
    if (block > world.finalized) return 'not-finalized';
    return world.hints.packing.includes(kind) ? 'packing' : 'staged';
  }
  if (block > world.head) return 'not-produced';
  if (model.quarantined.has(block) && (wanted('active') || wanted('paused'))) return 'quarantined';
  if (wanted('active')) {
    if (block > world.finalized) return 'not-finalized';
    const windows = world.hints.windows.filter(
      ({ kinds, firstBlock, lastBlock }) => kinds.includes(kind) && firstBlock <= block && block <= lastBlock,
    );
    if (windows.some(({ running }) => running)) return 'fetching';
    if (windows.length > 0) return 'queued';
    if (world.halted) return 'halted';
    return world.full ? 'throttled' : 'waiting';
  }
  if (wanted('paused')) return 'paused';
  return wanted('cancelled') ? 'cancelled' : 'not-requested';
}

const range = fc
  .tuple(fc.integer({ min: FIRST, max: LAST }), fc.integer({ min: 0, max: 20 }))
  .map(([firstBlock, length]) => ({ firstBlock, lastBlock: firstBlock + length }));
const kinds = fc.subarray([...ASKED], { minLength: 1 });
const step = fc.oneof(
  fc.record({
    act: fc.constant('want' as const),
    range,
    kinds,
    state: fc.constantFrom('active' as const, 'active' as const, 'paused' as const, 'cancelled' as const),
    follows: fc.boolean(),
  }),
  fc.record({ act: fc.constant('stage' as const), range, kinds }),
  fc.record({ act: fc.constant('publish' as const), range, kinds }),
  fc.record({ act: fc.constant('quarantine' as const), range, kinds }),
);
const scene = fc.record({
  steps: fc.array(step, { maxLength: 14 }),
  head: fc.option(fc.tuple(fc.integer({ min: FIRST - 1, max: LAST + 5 }), fc.integer({ min: 0, max: 30 }))),
  full: fc.boolean(),
  halted: fc.boolean(),
  windows: fc.array(
    range.chain((at) =>
      fc.record({
        firstBlock: fc.constant(at.firstBlock),
        lastBlock: fc.constant(at.lastBlock),
        kinds,
        running: fc.boolean(),
      }),
    ),
    { maxLength: 3 },
  ),
  packing: fc.subarray([...ASKED]),
  limit: fc.integer({ min: 1, max: 4 }),
  columns: fc.integer({ min: 1, max: 70 }),
  within: range,
});
type Scene = typeof scene extends fc.Arbitrary<infer S> ? S : never;

/** Applies a change to the database and to the model. */
async function play({ steps, head, full, halted, windows, packing }: Scene): Promise<World> {
  const { database } = open;
  const world: World = {
    kinds: new Map(ASKED.map((kind) => [kind, new KindModel()])),
    head: head === null ? -1 : head[0],
    finalized: head === null ? -1 : head[0] - head[1],
    full,
    halted,
    hints: { windows, packing },
  };
  if (head !== null) {
    const [number, depth] = head;
    await database.network('main').head.set({ number, hash: hashAt(number), finalized: number - depth });
  }
  if (halted) {
    await database.network('main').alarms.raise({ name: 'REORG_BELOW_FINALITY', message: '', data: {} });
  }
  if (full) await database.network('main').pressure.note({ stagedBytes: 2, limitBytes: 1 });
  for (const one of steps) {
    const models = one.kinds.map((kind) => world.kinds.get(kind) as KindModel);
    const blocks = toNumbers(one.range);
    if (one.act === 'want') {
      const to = one.follows ? null : one.range.lastBlock;
      const row = await database.network('main').backfills.add({
        kinds: one.kinds,
        from: one.range.firstBlock,
        to,
        priority: 1,
      });
      await database.backfills.change(row.id, { state: one.state });
      const reach = one.follows
        ? toNumbers({ firstBlock: one.range.firstBlock, lastBlock: LAST + 50 })
        : blocks;
      for (const model of models) for (const number of reach) model.wanted.get(one.state)?.add(number);
    } else if (one.act === 'quarantine') {
      await database.network('main').quarantine.put({
        firstBlock: one.range.firstBlock,
        lastBlock: one.range.lastBlock,
        kinds: one.kinds,
        cause: 'PROOF_FAILED',
        message: '',
        upstream: null,
        payloadDigest: null,
      });
      // A row put over others takes over their kinds for its blocks.
      const also = ASKED.filter((kind) =>
        blocks.some((number) => world.kinds.get(kind)?.quarantined.has(number)),
      );
      for (const kind of new Set([...one.kinds, ...also])) {
        for (const number of blocks) world.kinds.get(kind)?.quarantined.add(number);
      }
    } else if (one.act === 'publish') {
      for (const [at, kind] of one.kinds.entries()) {
        const model = models[at] as KindModel;
        if (blocks.some((number) => model.published.has(number))) continue;
        await database
          .network('main')
          .bundles.publish(makeBundle(kind, one.range.firstBlock, one.range.lastBlock));
        for (const number of blocks) model.published.add(number);
      }
    } else {
      for (const [firstBlock, lastBlock] of [
        [one.range.firstBlock, Math.min(one.range.lastBlock, 1_023)],
        [Math.max(one.range.firstBlock, 1_024), one.range.lastBlock],
      ] as const) {
        if (firstBlock > lastBlock) continue;
        await database.network('main').staging.stage(makeRun(firstBlock, lastBlock, { kinds: one.kinds }));
        for (const model of models) {
          for (const number of toNumbers({ firstBlock, lastBlock }))
            if (!model.published.has(number)) model.staged.add(number);
        }
      }
    }
  }
  return world;
}

/** Runs of blocks of one reason; null is published. */
function toRuns(
  world: World,
  kind: Kind,
  { firstBlock, lastBlock }: BlockRange,
): (BlockRange & { reason: HoleReason | null; staged: boolean })[] {
  const runs: (BlockRange & { reason: HoleReason | null; staged: boolean })[] = [];
  for (const number of toNumbers({ firstBlock, lastBlock })) {
    const reason = getReason(world, kind, number);
    const staged = reason !== null && (world.kinds.get(kind)?.staged.has(number) ?? false);
    const last = runs.at(-1);
    if (last !== undefined && last.reason === reason && last.staged === staged) last.lastBlock = number;
    else runs.push({ firstBlock: number, lastBlock: number, reason, staged });
  }
  return runs;
}

/** All pages, with holes joined that the end of a page had cut. */
async function allPages(range: BlockRange, limit: number, hints: QueueHints) {
  const found = new Map<Kind, (BlockRange & { reason: HoleReason | null; staged: boolean })[]>();
  for (let firstBlock: number | null = range.firstBlock; firstBlock !== null; ) {
    const page = await open.main.holes.page({
      kinds: ASKED,
      range: { firstBlock, lastBlock: range.lastBlock },
      limit,
      hints,
    });
    expect(page.range.firstBlock).toBe(firstBlock);
    expect(page.range.lastBlock).toBeGreaterThanOrEqual(firstBlock);
    expect(page.next).toBe(page.range.lastBlock === range.lastBlock ? null : page.range.lastBlock + 1);
    for (const { kind, published, holes } of page.kinds) {
      expect(holes.length).toBeLessThanOrEqual(limit);
      const pieces = [
        ...published.map((each) => ({ ...each, reason: null, staged: false })),
        ...holes.map(plain),
      ];
      pieces.sort((a, b) => a.firstBlock - b.firstBlock);
      // Neither a gap nor an overlap within the page.
      let next = page.range.firstBlock;
      for (const piece of pieces) {
        expect(piece.firstBlock).toBe(next);
        next = piece.lastBlock + 1;
      }
      expect(next).toBe(page.range.lastBlock + 1);
      const list = found.get(kind) ?? [];
      for (const piece of pieces) {
        const last = list.at(-1);
        if (last !== undefined && last.reason === piece.reason && last.staged === piece.staged)
          last.lastBlock = piece.lastBlock;
        else list.push(piece);
      }
      found.set(kind, list);
    }
    firstBlock = page.next;
  }
  return found;
}

const plain = ({ firstBlock, lastBlock, reason, staged }: Hole) => ({
  firstBlock: firstBlock,
  lastBlock: lastBlock,
  reason,
  staged,
});

describe('holes', () => {
  it('partition any range with what is published, as a model that looks at every block says (invariant 4)', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (given) => {
        await clear();
        const world = await play(given);
        for (const within of [given.within, { firstBlock: 0, lastBlock: LAST + 30 }]) {
          const found = await allPages(within, given.limit, world.hints);
          const counts = await open.main.holes.count({
            kinds: ASKED,
            range: within,
            hints: world.hints,
          });
          for (const [at, kind] of ASKED.entries()) {
            const runs = toRuns(world, kind, within);
            expect(found.get(kind)).toEqual(runs);
            const missing: Partial<Record<HoleReason, number>> = {};
            let published = 0;
            for (const { firstBlock, lastBlock, reason } of runs) {
              if (reason === null) published += lastBlock - firstBlock + 1;
              else missing[reason] = (missing[reason] ?? 0) + lastBlock - firstBlock + 1;
            }
            expect(counts[at]).toEqual({ kind, published, missing });
          }
          await columnsFit(world, within, given.columns);
        }
        await standingFits(world);
      }),
      { numRuns: 60 },
    );
  });
});

async function columnsFit(world: World, within: BlockRange, most: number): Promise<void> {
  const { hints } = world;
  const found = await open.main.holes.columns({ kinds: ASKED, range: within, columns: most, hints });
  const { width } = found;
  const [first, last] = [Math.floor(within.firstBlock / width), Math.floor(within.lastBlock / width)];
  expect(last - first).toBeLessThan(most);
  // Half of it would not do.
  const halves = Math.floor((within.lastBlock * 2) / width) - Math.floor((within.firstBlock * 2) / width);
  expect(width === 1 ? most : halves).toBeGreaterThanOrEqual(most);
  for (const { kind, columns } of found.kinds) {
    const expected = toNumbers({ firstBlock: first, lastBlock: last }).map((n) => {
      const blocks = {
        firstBlock: Math.max(n * width, within.firstBlock),
        lastBlock: Math.min((n + 1) * width - 1, within.lastBlock),
      };
      const reasons = toNumbers(blocks).flatMap((number) => getReason(world, kind, number) ?? []);
      return { missing: reasons.length, reasons: [...new Set(reasons)].sort() };
    });
    expect(columns.map(({ missing, reasons }) => ({ missing, reasons: reasons.sort() }))).toEqual(expected);
  }
}

async function standingFits(world: World): Promise<void> {
  const standing = await open.main.holes.standing();
  const everybody = toNumbers({ firstBlock: FIRST, lastBlock: LAST + 60 });
  const isWanted = (kind: Kind, number: number) => {
    const { wanted } = world.kinds.get(kind) as KindModel;
    return wanted.get('active')?.has(number) || wanted.get('paused')?.has(number) || false;
  };
  const wantedKinds = ASKED.filter((kind) => everybody.some((number) => isWanted(kind, number)));
  const first = everybody.find((number) => wantedKinds.some((kind) => isWanted(kind, number))) ?? null;
  expect(standing.firstRequested).toBe(first);
  let complete: number | null = null;
  for (let number = first ?? Number.POSITIVE_INFINITY; ; number += 1) {
    if (!wantedKinds.every((kind) => world.kinds.get(kind)?.published.has(number))) break;
    if (wantedKinds.length === 0) break;
    complete = number;
  }
  expect(standing.completeThrough).toBe(complete);
  expect(standing.kinds.filter((kind) => kind.requested).map(({ kind }) => kind)).toEqual(wantedKinds);
}

describe('a page', () => {
  it('names cause, attempts and the earliest next try of quarantined blocks, failing alike as one hole', async () => {
    const { database } = open;
    await database.network('main').head.set({ number: 2_000, hash: hashAt(2_000), finalized: 1_990 });
    await database.network('main').backfills.add({ kinds: ['logs'], from: 1_000, to: null, priority: 1 });
    const row = {
      network: 'main',
      kinds: ['logs'] as Kind[],
      message: 'x',
      upstream: 'node',
      payloadDigest: null,
    };
    await database.network('main').quarantine.put({ ...row, firstBlock: 1_005, cause: 'PROOF_FAILED' });
    // Both are one row, and become two when the first is tried again.
    await database.network('main').quarantine.put({ ...row, firstBlock: 1_006, cause: 'PROOF_FAILED' });
    await database.network('main').quarantine.retry({ firstBlock: 1_005, lastBlock: 1_005 });
    await database.network('main').quarantine.put({ ...row, firstBlock: 1_005, cause: 'PROOF_FAILED' });
    await database.network('main').quarantine.put({ ...row, firstBlock: 1_007, cause: 'RECORD_INVALID' });
    const rows = await database.network('main').quarantine.within({ firstBlock: 1_005, lastBlock: 1_006 });
    expect(rows.map(({ firstBlock, attempts }) => [firstBlock, attempts])).toEqual([
      [1_005, 2],
      [1_006, 1],
    ]);
    const [firstSeen, earliest] = [rows[0]?.firstSeen, rows[1]?.nextTry];
    expect(earliest?.getTime()).toBeLessThan(rows[0]?.nextTry.getTime() as number);
    const page = await database.network('main').holes.page({
      kinds: ['logs', 'blocks'],
      range: { firstBlock: 1_004, lastBlock: 1_008 },
      limit: 10,
    });
    expect(page).toMatchObject({
      head: 2_000,
      finalized: 1_990,
      next: null,
      range: { firstBlock: 1_004, lastBlock: 1_008 },
    });
    const other = { attempts: 1, firstSeen: expect.any(Date), nextTry: expect.any(Date) };
    expect(page.kinds[0]?.holes).toEqual([
      { firstBlock: 1_004, lastBlock: 1_004, reason: 'waiting', staged: false, quarantine: null },
      {
        firstBlock: 1_005,
        lastBlock: 1_006,
        reason: 'quarantined',
        staged: false,
        quarantine: { cause: 'PROOF_FAILED', attempts: 2, firstSeen, nextTry: earliest },
      },
      {
        firstBlock: 1_007,
        lastBlock: 1_007,
        reason: 'quarantined',
        staged: false,
        quarantine: { cause: 'RECORD_INVALID', ...other },
      },
      { firstBlock: 1_008, lastBlock: 1_008, reason: 'waiting', staged: false, quarantine: null },
    ]);
    expect(page.kinds[1]?.holes).toEqual([
      { firstBlock: 1_004, lastBlock: 1_008, reason: 'not-requested', staged: false, quarantine: null },
    ]);
  });

  it('of a network that nobody knows is one hole beyond any head', async () => {
    const page = await open.main.holes.page({
      kinds: KINDS,
      range: SPAN,
      limit: 5,
    });
    expect(page).toMatchObject({ head: null, finalized: null, next: null });
    expect(page.kinds.map(({ holes }) => holes)).toEqual(
      KINDS.map(() => [{ ...SPAN, reason: 'not-produced', staged: false, quarantine: null }]),
    );
    expect(await open.database.network('nowhere').holes.standing()).toEqual({
      head: null,
      finalized: null,
      firstRequested: null,
      lastRequested: null,
      completeThrough: null,
      kinds: [],
      oldestQuarantine: null,
    });
  });

  it('reads as few runs as it shows, however many there are', async () => {
    await open.sql(
      `INSERT INTO packhouse.published_run SELECT id, 3, n * 20, n * 20 + 11
       FROM packhouse.network, generate_series(0, 49999) AS n WHERE name = 'main'`,
    );
    const page = await open.main.holes.page({
      kinds: ['logs'],
      range: { firstBlock: 500_000, lastBlock: 999_999 },
      limit: 3,
    });
    expect(page.range).toEqual({ firstBlock: 500_000, lastBlock: 500_071 });
    expect(page.kinds[0]?.holes).toHaveLength(3);
    expect(page.kinds[0]?.published).toHaveLength(4);
    await open.sql('DELETE FROM packhouse.published_run');
  });
});

it('what is published is known as runs, whatever is published and deleted in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 3 })), {
        maxLength: 25,
      }),
      async (steps) => {
        await clear();
        for (const [add, at, size] of steps) {
          const [start, end] = [at * 2, at * 2 + size - 1];
          if (add) await open.main.bundles.publish(makeBundle('logs', start, end)).catch(() => undefined);
          else await open.sql('DELETE FROM packhouse.bundle WHERE first_block = $1', [start]);
          const [runs] = await open.sql<{ same: boolean }>(
            `SELECT coalesce((SELECT range_agg(int8range(first_block, last_block, '[]')) FROM packhouse.published_run), '{}')
                 = coalesce((SELECT range_agg(int8range(first_block, last_block, '[]')) FROM packhouse.bundle), '{}')
               AND (SELECT count(*) FROM packhouse.published_run)
                 = (SELECT count(*) FROM (
                     SELECT unnest(range_agg(int8range(first_block, last_block, '[]')))
                     FROM packhouse.bundle GROUP BY network_id, kind
                   ) AS run) AS same`,
          );
          expect(runs?.same).toBe(true);
        }
      },
    ),
    { numRuns: 40 },
  );
});

it('the nearest covered ranges around a block, published or staged', async () => {
  const { database } = open;
  expect(await database.network('main').holes.around('logs', 50)).toEqual({ below: null, above: null });
  await database.network('main').bundles.publish(makeBundle('logs', 10, 19));
  await database.network('main').bundles.publish(makeBundle('logs', 20, 29));
  await database.network('main').staging.stage(makeRun(60, 62));
  expect(await database.network('main').holes.around('logs', 50)).toEqual({
    below: { firstBlock: 10, lastBlock: 29 },
    above: { firstBlock: 60, lastBlock: 60 },
  });
  expect(await database.network('main').holes.around('logs', 70)).toEqual({
    below: { firstBlock: 62, lastBlock: 62 },
    above: null,
  });
});

it('a page is of what it shows where very many separate ranges were ordered, and says that they are many', async () => {
  await clear();
  await open.sql(`INSERT INTO packhouse.backfill (network_id, kinds, first_block, last_block, priority)
    SELECT n.id, 24, 10 * i, 10 * i + 4, 1 FROM packhouse.network AS n, generate_series(0, 4999) AS i
    WHERE n.name = 'main'`);
  await open.main.head.set({ number: 60_000, hash: hashAt(60_000), finalized: 60_000 });
  const range = { firstBlock: 0, lastBlock: 60_000 };
  const kinds = ['logs'] as const;
  const page = await open.main.holes.page({ kinds, range, limit: 10 });
  expect(page.range.lastBlock).toBeLessThan(200);
  expect(
    page.kinds[0]?.holes
      .map(({ firstBlock, lastBlock, reason }) => [firstBlock, lastBlock, reason])
      .slice(0, 3),
  ).toEqual([
    [0, 4, 'waiting'],
    [5, 9, 'not-requested'],
    [10, 14, 'waiting'],
  ]);
  expect(await open.main.holes.isScattered({ kinds, range, limit: 4_999 })).toBe(true);
  expect(await open.main.holes.isScattered({ kinds, range, limit: 5_000 })).toBe(false);
  expect(
    await open.main.holes.isScattered({ kinds, range: { firstBlock: 0, lastBlock: 999 }, limit: 100 }),
  ).toBe(false);
  const [counts] = await open.main.holes.count({ kinds, range });
  expect(counts?.missing).toEqual({ waiting: 25_000, 'not-requested': 35_001 });
});
