import { expect, it } from 'vitest';
import { createBundleRows, holesIn } from './bundle-rows.js';

const MANY = 200_000;

it('chooses among 200,000 bundles, ascending, the newest version of each', () => {
  const before = process.memoryUsage().arrayBuffers;
  const rows = createBundleRows(MANY);
  // The second half was published first, each bundle has ten blocks, and every thousandth was replaced.
  const bundle = (index: number) => {
    const start = ((index + MANY / 2) % MANY) * 10;
    return { start, end: start + 9, bytes: 1_000_000, version: 1, offset: index * 1_100, length: 1_100 };
  };
  for (let index = 0; index < MANY; index += 1) rows.add(bundle(index));
  for (let index = 0; index < MANY; index += 1_000) rows.add({ ...bundle(index), version: 2 });
  // 48 bytes each, and no object for any.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MANY * 48 * 1.1);

  expect(rows.extent()).toEqual({ start: 0, end: MANY * 10 - 1 });
  const all = rows.choose({ start: 0, end: MANY * 10 - 1 });
  expect(all.length).toBe(MANY);
  const starts = [...all].map((index) => rows.at(index).start);
  expect(starts.every((start, at) => start === at * 10)).toBe(true);
  expect([...all].filter((index) => rows.at(index).version === 2)).toHaveLength(MANY / 1_000);
  expect(holesIn({ start: 0, end: MANY * 10 - 1 }, rows, all)).toEqual([]);
});

it('names what no bundle has: before, between and behind them', () => {
  const rows = createBundleRows();
  expect(rows.extent()).toBeNull();
  for (const start of [40, 10, 20]) {
    rows.add({ start, end: start + 9, bytes: 1, version: 1, offset: 0, length: 0 });
  }
  const range = { start: 5, end: 60 };
  expect(holesIn(range, rows, rows.choose(range))).toEqual([
    { start: 5, end: 9 },
    { start: 30, end: 39 },
    { start: 50, end: 60 },
  ]);
  const within = { start: 15, end: 24 };
  expect([...rows.choose(within)].map((index) => rows.at(index).start)).toEqual([10, 20]);
  expect(holesIn(within, rows, rows.choose(within))).toEqual([]);
});
