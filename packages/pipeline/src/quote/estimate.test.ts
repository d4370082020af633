import { expect, test } from 'vitest';
import { estimateTotal } from './estimate.js';

test('of all blocks the total is exact', () => {
  expect(estimateTotal([3, 5, 7], 3)).toEqual({ value: 15, low: 15, high: 15 });
  expect(() => estimateTotal([], 3)).toThrow(RangeError);
});

test('a total is the mean times the blocks, and its interval that of successive differences', () => {
  // Differences 2, 2, 2: variance 2, standard error 100 * sqrt(0.96 * 2 / 4); t of 3 degrees of freedom is 2.353.
  const { value, low, high } = estimateTotal([1, 3, 5, 7], 100);
  expect(value).toBe(400);
  expect(high - value).toBeCloseTo(163, -1);
  expect(value - low).toBeCloseTo(high - value, 6);
});

test('an interval never leaves what was seen, nor what a block can have', () => {
  expect(estimateTotal([0, 0, 100, 0], 6).low).toBe(100);
  expect(estimateTotal([0, 1, 1, 1], 1_000, 1).high).toBe(1_000);
});

test('blocks that are all alike leave room for others', () => {
  expect(estimateTotal(Array(22).fill(0), 1_000, 1)).toMatchObject({ value: 0, low: 0 });
  expect(estimateTotal(Array(22).fill(0), 1_000, 1).high).toBeCloseTo(99, 0);
  expect(estimateTotal(Array(22).fill(1), 1_000, 1)).toMatchObject({ value: 1_000, high: 1_000 });
  expect(estimateTotal(Array(22).fill(1), 1_000, 1).low).toBeCloseTo(901, 0);
});

test('nine intervals of ten hold the true total', () => {
  // Skewed as blocks are: a linear congruential generator squared, with a trend over the range.
  let state = 1;
  const next = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const blocks = Array.from({ length: 10_000 }, (_, i) => 1_000 + i / 10 + 4_000 * next() ** 2);
  const truth = blocks.reduce((sum, value) => sum + value, 0);
  let held = 0;
  for (let round = 0; round < 1_000; round++) {
    const sample = Array.from({ length: 25 }, (_, i) => blocks[i * 400 + Math.floor(next() * 400)] as number);
    const { low, high } = estimateTotal(sample, blocks.length);
    if (low <= truth && truth <= high) held += 1;
  }
  expect(held).toBeGreaterThan(870);
  expect(held).toBeLessThan(940);
});
