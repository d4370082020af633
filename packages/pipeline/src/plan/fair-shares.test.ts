import { expect, test } from 'vitest';
import { createFairShares, type FairShares } from './fair-shares.js';

interface Range {
  id: number;
  owner: string;
  priority: number;
  weight: number;
  /** Of a window of it. */
  cost: number;
}

const range = (id: number, cost: number, more: Partial<Range> = {}): Range => ({
  id,
  cost,
  owner: 'default',
  priority: 1,
  weight: 1,
  ...more,
});

/** What each range or owner is charged, if `windows` windows are planned, some at a time. */
function serve(shares: FairShares, ranges: readonly Range[], windows: number, by: 'id' | 'owner' = 'id') {
  const had = new Map<number | string, number>();
  for (let planned = 0; planned < windows; ) {
    const turns = shares.turns(ranges);
    for (const upTo = planned + 3; planned < Math.min(upTo, windows); planned++) {
      const taken = turns.take() as Range;
      shares.charge(taken, taken.cost);
      had.set(taken[by], (had.get(taken[by]) ?? 0) + taken.cost);
      turns.again(taken);
    }
  }
  return (of: number | string): number => had.get(of) ?? 0;
}

test('ranges get equal shares by cost, not by windows', () => {
  const had = serve(createFairShares(), [range(1, 8_000_000), range(2, 500_000), range(3, 3_000_000)], 1_000);
  const sum = had(1) + had(2) + had(3);
  for (const id of [1, 2, 3]) expect(Math.abs(had(id) / sum - 1 / 3)).toBeLessThan(0.02);
});

test('shares follow weights', () => {
  const had = serve(createFairShares(), [range(1, 5, { weight: 3 }), range(2, 5)], 1_000);
  expect(had(1) / had(2)).toBeCloseTo(3, 1);
});

test('an owner of one range and one of twenty get equal shares within 5 % over 1,000 windows', () => {
  const many = Array.from({ length: 20 }, (_, i) => range(i, 1_000_000 + 400_000 * i, { owner: 'many' }));
  const one = range(99, 3_000_000, { owner: 'one' });
  const had = serve(createFairShares(), [...many, one], 1_000, 'owner');
  expect(Math.abs(had('many') / had('one') - 1)).toBeLessThan(0.05);
});

test('owners share by the weights of what they fetch, and within an owner ranges do', () => {
  const ranges = [
    range(1, 7, { owner: 'a', weight: 2 }),
    range(2, 11, { owner: 'a', weight: 2 }),
    range(3, 5, { owner: 'b' }),
  ];
  const had = serve(createFairShares(), ranges, 2_000);
  expect((had(1) + had(2)) / had(3)).toBeCloseTo(2, 1);
  expect(had(1) / had(2)).toBeCloseTo(1, 1);
});

test('one that comes late has the next turn, and takes no more than its share from then on', () => {
  const shares = createFairShares();
  serve(shares, [range(1, 10)], 500);
  const both = [range(1, 10), range(2, 10)];
  expect(shares.turns(both).take()?.id).toBe(2);
  const had = serve(shares, both, 100);
  expect([had(1), had(2)]).toEqual([500, 500]);
});

test('an owner that comes late has the next turn as well', () => {
  const shares = createFairShares();
  const early = [range(1, 10), range(2, 10)];
  serve(shares, early, 500);
  const all = [...early, range(3, 10, { owner: 'late' })];
  expect(shares.turns(all).take()?.id).toBe(3);
  const had = serve(shares, all, 400);
  expect([had(1), had(2), had(3)]).toEqual([1_000, 1_000, 2_000]);
});

test('one that had nothing to fetch has saved nothing up', () => {
  const shares = createFairShares();
  const both = [range(1, 10), range(2, 10)];
  serve(shares, both, 10);
  serve(shares, both.slice(0, 1), 1_000);
  const had = serve(shares, both, 100);
  expect(Math.abs(had(1) - had(2))).toBeLessThanOrEqual(20);
});

test('what an owner had at one priority does not count at another', () => {
  const shares = createFairShares();
  serve(shares, [range(1, 10, { owner: 'a' })], 100);
  const later = [range(2, 10, { owner: 'a', priority: 5 }), range(3, 10, { owner: 'b', priority: 5 })];
  expect(shares.turns(later).take()?.id).toBe(2);
});

test('what is done is forgotten', () => {
  const shares = createFairShares();
  const both = [range(1, 100), range(2, 10)];
  for (const each of both) shares.charge(each, each.cost);
  expect(shares.turns(both).take()?.id).toBe(2);
  shares.keep([]);
  expect(shares.turns(both).take()?.id).toBe(1);
});

test('equal ones have their turns in the order given, and one that is not put back has no other', () => {
  const turns = createFairShares().turns([range(5, 1), range(3, 1), range(9, 1, { owner: 'b' })]);
  expect([turns.take(), turns.take(), turns.take(), turns.take()].map((each) => each?.id)).toEqual([
    5,
    3,
    9,
    undefined,
  ]);
  expect(turns.take()).toBeUndefined();
  expect(createFairShares().turns([]).take()).toBeUndefined();
});
