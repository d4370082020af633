import { expect, test } from 'vitest';
import { createFairShares, createTurns, type FairShares } from './fair-shares.js';

/** What each of these ranges is charged, if `turns` windows are planned in turns; `costs`: of one window. */
function serve(shares: FairShares, costs: Readonly<Record<number, number>>, turns: number, weights = {}) {
  const had = new Map<number, number>();
  const waiting = createTurns(Object.keys(costs).map(Number), shares.startOf);
  for (let turn = 0; turn < turns; turn++) {
    const range = waiting.take() as number;
    const cost = costs[range] as number;
    shares.charge(range, cost, (weights as Record<number, number>)[range]);
    had.set(range, (had.get(range) ?? 0) + cost);
    waiting.again(range);
  }
  return had;
}

test('ranges get equal shares by cost, not by windows', () => {
  const had = serve(createFairShares(), { 1: 8_000_000, 2: 500_000, 3: 3_000_000 }, 1_000);
  const sum = [...had.values()].reduce((a, b) => a + b, 0);
  for (const cost of had.values()) expect(Math.abs(cost / sum - 1 / 3)).toBeLessThan(0.02);
});

test('shares follow weights', () => {
  const had = serve(createFairShares(), { 1: 5, 2: 5 }, 1_000, { 1: 3 });
  expect((had.get(1) as number) / (had.get(2) as number)).toBeCloseTo(3, 1);
});

test('one that comes late has the next turn, and takes no more than its share from then on', () => {
  const shares = createFairShares();
  serve(shares, { 1: 10 }, 500);
  expect(createTurns([1, 2], shares.startOf).take()).toBe(2);
  const had = serve(shares, { 1: 10, 2: 10 }, 100);
  expect(had.get(2)).toBe(500);
  expect(had.get(1)).toBe(500);
});

test('one that had nothing to fetch has saved nothing up', () => {
  const shares = createFairShares();
  serve(shares, { 1: 10, 2: 10 }, 10);
  serve(shares, { 1: 10 }, 1_000);
  const had = serve(shares, { 1: 10, 2: 10 }, 100);
  expect(Math.abs((had.get(1) as number) - (had.get(2) as number))).toBeLessThanOrEqual(20);
});

test('what is done is forgotten', () => {
  const shares = createFairShares();
  shares.charge(1, 100);
  shares.charge(2, 10);
  shares.keep([2]);
  expect(shares.startOf(1)).toBe(0);
  expect(shares.startOf(2)).toBe(10);
});

test('equal ones have their turns in the order given', () => {
  const shares = createFairShares();
  const waiting = createTurns([5, 3, 9], shares.startOf);
  expect([waiting.take(), waiting.take(), waiting.take(), waiting.take()]).toEqual([5, 3, 9, undefined]);
});
