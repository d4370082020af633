import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { kindsMask } from '../../connection/codes.js';
import { makeBundle } from '../../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';
import type { Backfill } from './backfill-cache.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());
beforeEach(() => open.sql('TRUNCATE packhouse.backfill, packhouse.bundle'));

const want = (from: number, to: number | null, kinds: Kind[] = ['logs'], priority = 1) =>
  open.main.backfills.add({ kinds, from, to, priority });
const openIds = async () => (await open.main.backfills.open()).map(({ id }) => id);

it('keeps wanted ranges by priority, and their states', async () => {
  const { backfills } = open.database;
  const late = await open.main.backfills.add({ kinds: ['traces'], from: 0, to: 10, priority: 900 });
  const first = await open.main.backfills.add({
    kinds: ['blocks', 'logs'],
    from: 5,
    to: null,
    priority: 1,
  });
  expect(await backfills.list()).toEqual([first, late]);
  expect(await open.database.network('nowhere').backfills.list()).toEqual([]);
  expect(await open.main.backfills.list()).toEqual([first, late]);
  expect(await backfills.change(late.id, { state: 'cancelled' })).toEqual({
    before: late,
    after: {
      ...late,
      state: 'cancelled',
      stopped: { actor: 'packhouse', reason: null, at: expect.any(Date) },
    },
  });
  expect((await backfills.list()).map(({ id }) => id)).not.toContain(-1);
  expect(await backfills.change(-1, { state: 'paused' })).toBeNull();
});

it('lists a page at a time by network, state, owner and words, and counts what matches', async () => {
  const { backfills } = open.database;
  await open.database.networks.register({ id: 'base', chainId: 8453 });
  const base = open.database.network('base');
  const late = await open.main.backfills.add({
    kinds: ['traces'],
    from: 0,
    to: 9,
    priority: 900,
    owner: 'ada',
  });
  const done = await want(0, 9);
  const paused = await want(5, 99);
  const cancelled = await want(100, null);
  const other = await base.backfills.add({ kinds: ['logs', 'blocks'], from: 7, to: 7, priority: 2 });
  await open.main.bundles.publish(makeBundle('logs', 0, 9));
  await open.main.backfills.fold(null, 10);
  await backfills.change(paused.id, { state: 'paused' });
  await backfills.change(cancelled.id, { state: 'cancelled' });
  const ids = async (page: Omit<Parameters<typeof backfills.page>[0], 'limit'>) =>
    (await backfills.page({ ...page, limit: 10 })).rows.map(({ id }) => id);
  const all = [done.id, paused.id, cancelled.id, other.id, late.id];
  expect(await ids({})).toEqual(all);
  expect(await ids({ state: 'active' })).toEqual([other.id, late.id]);
  expect(await ids({ state: 'done' })).toEqual([done.id]);
  expect(await ids({ state: 'paused' })).toEqual([paused.id]);
  expect(await ids({ state: 'cancelled', network: 'base' })).toEqual([]);
  expect(await ids({ owner: 'ada' })).toEqual([late.id]);
  expect(await ids({ owner: "' OR true --" })).toEqual([]);
  for (const [search, found] of [
    ['main LOGS', [done.id, paused.id, cancelled.id]],
    ['ba lo', [other.id]],
    ['7 logs', [done.id, paused.id, other.id]],
    ['9,007,199,254,740,993', []],
    ['100_000', [cancelled.id]],
    ['%', []],
  ] as const) {
    expect(await ids({ search }), search).toEqual(found);
  }
  const first = await backfills.page({ limit: 2 });
  expect(first).toMatchObject({ rows: [{ id: done.id }, { id: paused.id }], more: true, matching: 5 });
  expect(await backfills.page({ limit: 9, after: paused.id })).toMatchObject({ more: false, matching: 5 });
  expect(await ids({ after: cancelled.id })).toEqual([other.id, late.id]);
  expect(await backfills.owners()).toEqual([
    { owner: 'ada', backfills: 1 },
    { owner: 'default', backfills: 4 },
  ]);
  expect(await backfills.groups([paused.id])).toMatchObject([
    { network: 'base', state: 'active', backfills: 1, stoppedAt: null },
    { network: 'main', state: 'active', backfills: 2 },
    { network: 'main', state: 'cancelled', backfills: 1, stoppedAt: expect.any(Date) },
  ]);
});

it('keeps who stopped a backfill, when and why, until it is active again', async () => {
  const { backfills, changes } = open.database;
  const { id } = await open.main.backfills.add({ kinds: ['logs'], from: 0, to: 9, priority: 1 });
  const pause = (reason?: string) =>
    backfills.change(id, { state: 'paused' }, { actor: 'ada', action: 'pause', reason });
  await pause('the node is replaced');
  const stopped = { actor: 'ada', reason: 'the node is replaced', at: expect.any(Date) };
  expect(await backfills.find(id)).toMatchObject({ state: 'paused', stopped });
  await pause();
  await backfills.change(id, { priority: 3 }, { actor: 'bob' });
  expect(await backfills.find(id)).toMatchObject({ priority: 3, stopped });
  await backfills.change(
    id,
    { state: 'cancelled' },
    { actor: 'bob', action: 'cancel', reason: 'not needed' },
  );
  expect(await backfills.find(id)).toMatchObject({ stopped: { actor: 'bob', reason: 'not needed' } });
  await backfills.change(id, { state: 'active' }, { actor: 'ada', action: 'resume', reason: 'of nothing' });
  expect(await backfills.find(id)).toMatchObject({ state: 'active', stopped: null });
  const log = await changes.list({ subject: `backfill ${id}` });
  expect(log.map(({ action, after }) => [action, after?.reason])).toEqual([
    ['resume', undefined],
    ['cancel', 'not needed'],
    ['set', 'the node is replaced'],
    ['pause', 'the node is replaced'],
    ['pause', 'the node is replaced'],
    ['add', undefined],
  ]);
});

it('loses neither of two changes at once, and notes who made them', async () => {
  const { id } = await open.main.backfills.add({ kinds: ['logs'], from: 0, to: 9, priority: 1 }, 'ada');
  const [one, two] = [open.database, open.another()];
  await Promise.all([
    one.backfills.change(id, { priority: 7 }, { actor: 'ada' }),
    two.backfills.change(id, { weight: 3, windows: ['Sat,Sun'] }, { actor: 'bob', action: 'share' }),
  ]);
  const after = {
    network: 'main',
    kinds: ['logs'],
    from: 0,
    to: 9,
    priority: 7,
    state: 'active',
  };
  const terms = { owner: 'default', weight: 3, windows: ['Sat,Sun'], deadline: null, maxRequests: null };
  expect(await open.main.backfills.list()).toEqual([
    { ...after, ...terms, id, stopped: null, createdAt: expect.any(Date) },
  ]);
  const [last, first, added] = await open.database.changes.list({ subject: `backfill ${id}` });
  expect(last?.after).toEqual({ ...after, ...terms });
  expect(last?.before).toEqual(first?.after);
  expect([last?.actor, first?.actor].sort()).toEqual(['ada', 'bob']);
  expect(first?.before).toEqual(added?.after);
  expect(added).toMatchObject({ actor: 'ada', action: 'add', before: null });
});

describe('what is wanted, by kind', () => {
  it('is merged, keeps the holes, and has no end where a range follows the head', async () => {
    await want(10, 19);
    await want(20, 29, ['logs', 'traces'], 7);
    await want(40, 49);
    const paused = await want(100, null);
    await open.database.backfills.change(paused.id, { state: 'paused' });
    const { active, paused: resting, kinds } = await open.main.backfills.runs();
    expect(active.get('logs')).toEqual([
      { firstBlock: 10, lastBlock: 29 },
      { firstBlock: 40, lastBlock: 49 },
    ]);
    expect(active.get('traces')).toEqual([{ firstBlock: 20, lastBlock: 29 }]);
    expect(resting.get('logs')).toEqual([{ firstBlock: 100, lastBlock: Number.POSITIVE_INFINITY }]);
    expect([...kinds].sort()).toEqual(['logs', 'traces']);
    const nobody = await open.database.network('nowhere').backfills.runs();
    expect([nobody.active.size, nobody.paused.size, nobody.kinds]).toEqual([0, 0, []]);
  });

  it('is read again only when it changed, by whomever', async () => {
    const { id } = await want(10, 19);
    const [runs, ranges] = [await open.main.backfills.runs(), await open.main.backfills.open()];
    expect(await open.main.backfills.runs()).toBe(runs);
    expect(await open.main.backfills.open()).toBe(ranges);
    await open.another().backfills.change(id, { state: 'paused' });
    expect((await open.main.backfills.runs()).active.size).toBe(0);
    expect(await open.main.backfills.open()).toEqual([]);
    await open
      .another()
      .network('main')
      .backfills.add({ kinds: ['logs'], from: 1, to: 1, priority: 1 });
    expect((await open.main.backfills.runs()).active.get('logs')).toEqual([{ firstBlock: 1, lastBlock: 1 }]);
    await open.sql('DELETE FROM packhouse.backfill');
    expect((await open.main.backfills.runs()).active.size).toBe(0);
  });

  it('is the same for two that order at once, a range at a time', async () => {
    const others = [open.another(), open.another()].map((each) => each.network('main').backfills);
    await Promise.all(
      others.map(async (wanted, at) => {
        for (let n = 0; n < 50; n++)
          await wanted.add({ kinds: ['logs'], from: 2 * n + at, to: 2 * n + at, priority: 1 });
      }),
    );
    expect((await open.main.backfills.runs()).active.get('logs')).toEqual([{ firstBlock: 0, lastBlock: 99 }]);
  });

  it('is what a model of sets says, however ranges come and change', async () => {
    const states = ['active', 'paused', 'cancelled'] as const;
    const range = fc.record({
      start: fc.integer({ min: 0, max: 30 }),
      blocks: fc.integer({ min: 0, max: 10 }),
      follows: fc.boolean(),
      kinds: fc.subarray<Kind>(['blocks', 'logs'], { minLength: 1 }),
    });
    const step = fc.oneof(
      range,
      fc.record({ many: fc.array(range, { minLength: 2, maxLength: 8 }), state: fc.constantFrom(...states) }),
      fc.record({ change: fc.nat({ max: 9 }), state: fc.constantFrom(...states) }),
      fc.record({ all: fc.constantFrom(...states) }),
      fc.record({ move: fc.integer({ min: 1, max: 12 }), every: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ remove: fc.nat({ max: 9 }) }),
      fc.record({ removeEvery: fc.integer({ min: 1, max: 3 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        await open.sql('TRUNCATE packhouse.backfill');
        for (const one of steps) {
          const rows = await open.main.backfills.list();
          if ('start' in one) {
            const { start, blocks, follows, kinds } = one;
            await want(start, follows ? null : start + blocks, kinds);
          } else if ('many' in one) {
            // One statement, as an operator's own SQL may be.
            await open.sql(
              `INSERT INTO packhouse.backfill (network_id, kinds, first_block, last_block, priority, state)
               SELECT n.id, r.kinds, r.start, r.end, 1, $2
               FROM packhouse.network AS n, jsonb_to_recordset($1) AS r (kinds int4, start int8, "end" int8)`,
              [
                JSON.stringify(
                  one.many.map(({ start, blocks, follows, kinds }) => ({
                    kinds: kindsMask(kinds),
                    start,
                    end: follows ? null : start + blocks,
                  })),
                ),
                one.state,
              ],
            );
          } else if ('move' in one) {
            await open.sql(
              `UPDATE packhouse.backfill SET first_block = first_block + $1, last_block = last_block + $1
               WHERE id % $2 = 0`,
              [one.move, one.every],
            );
          } else if ('removeEvery' in one) {
            await open.sql('DELETE FROM packhouse.backfill WHERE id % $1 = 0', [one.removeEvery]);
          } else if ('change' in one) {
            const row = rows[one.change];
            if (row !== undefined) await open.database.backfills.change(row.id, { state: one.state });
          } else if ('all' in one) {
            await open.sql('UPDATE packhouse.backfill SET state = $1', [one.all]);
          } else {
            await open.sql('DELETE FROM packhouse.backfill WHERE id = $1', [rows[one.remove]?.id ?? 0]);
          }
          await expectModel(await open.main.backfills.list());
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** Above every block to which ten steps can move a range. */
const HORIZON = 200;

async function expectModel(rows: readonly Backfill[]): Promise<void> {
  const runs = await open.main.backfills.runs();
  for (const state of ['active', 'paused'] as const) {
    for (const kind of KINDS) {
      const blocks = new Set<number>();
      for (const row of rows.filter((each) => each.state === state && each.kinds.includes(kind)))
        for (let n = row.from; n <= (row.to ?? HORIZON); n++) blocks.add(n);
      const model: BlockRange[] = [];
      for (const n of [...blocks].sort((a, b) => a - b)) {
        const last = model.at(-1);
        if (last !== undefined && last.lastBlock === n - 1) last.lastBlock = n;
        else model.push({ firstBlock: n, lastBlock: n });
      }
      const found = (runs[state].get(kind) ?? []).map(({ firstBlock, lastBlock }) => ({
        firstBlock,
        lastBlock: Math.min(lastBlock, HORIZON),
      }));
      expect(found).toEqual(model);
    }
  }
  expect([...runs.kinds].sort()).toEqual([...new Set(rows.flatMap(({ kinds }) => kinds))].sort());
}

describe('a range of which everything is published', () => {
  it('leaves the ranges that are planned, when somebody folds it', async () => {
    const done = await want(0, 9, ['logs', 'traces'], 5);
    const half = await want(5, 14);
    const follows = await want(0, null);
    const before = await open.main.backfills.runs();
    for (const kind of ['logs', 'traces'] as const) await open.main.bundles.publish(makeBundle(kind, 0, 9));
    expect(await openIds()).toEqual([half.id, follows.id, done.id]);
    expect(await open.main.backfills.fold(null, 2)).toBe(half.id);
    expect(await open.main.backfills.fold(half.id, 2)).toBeNull();
    expect(await openIds()).toEqual([half.id, follows.id]);
    expect((await open.another().network('main').backfills.open()).map(({ id }) => id)).toEqual([
      half.id,
      follows.id,
    ]);
    // Nothing that is wanted changed, so nobody reads anything again.
    expect(await open.main.backfills.runs()).toBe(before);
  });

  it('is planned again when a bundle of it is gone', async () => {
    const { id } = await want(0, 9);
    await open.main.bundles.publish(makeBundle('logs', 0, 9));
    await open.main.backfills.fold(null, 10);
    expect(await openIds()).toEqual([]);
    await open.sql('DELETE FROM packhouse.bundle');
    expect(await openIds()).toEqual([id]);
  });
});
