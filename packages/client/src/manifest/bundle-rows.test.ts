import { expect, it } from 'vitest';
import { createBundleRows, holesIn } from './bundle-rows.js';

const MANY = 200_000;

it('chooses among 200,000 bundles, ascending, the newest version of each', () => {
  const before = process.memoryUsage().arrayBuffers;
  const rows = createBundleRows(MANY);
  // The second half was published first, each bundle has ten blocks, and every thousandth was replaced.
  const bundle = (index: number) => {
    const firstBlock = ((index + MANY / 2) % MANY) * 10;
    return {
      sequence: index,
      firstBlock,
      lastBlock: firstBlock + 9,
      bytes: 1_000_000,
      version: 1,
      offset: index * 1_100,
      length: 1_100,
    };
  };
  for (let index = 0; index < MANY; index += 1) rows.add(bundle(index));
  for (let index = 0; index < MANY; index += 1_000) {
    rows.add({ ...bundle(index), version: 2, sequence: MANY + index / 1_000 });
  }
  expect(rows.find(1_000)).toBe(1_000);
  expect(rows.find(MANY + 7)).toBe(MANY + 7);
  expect(rows.find(2 * MANY)).toBeUndefined();
  // 60 bytes each, and no object for any.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MANY * 60 * 1.1);

  expect(rows.extent()).toEqual({ firstBlock: 0, lastBlock: MANY * 10 - 1 });
  const all = rows.choose({ firstBlock: 0, lastBlock: MANY * 10 - 1 });
  expect(all.length).toBe(MANY);
  const starts = [...all].map((index) => rows.at(index).firstBlock);
  expect(starts.every((start, at) => start === at * 10)).toBe(true);
  expect([...all].filter((index) => rows.at(index).version === 2)).toHaveLength(MANY / 1_000);
  expect(holesIn({ firstBlock: 0, lastBlock: MANY * 10 - 1 }, rows, all)).toEqual([]);
});

it('names what no bundle has: before, between and behind them', () => {
  const rows = createBundleRows();
  expect(rows.extent()).toBeNull();
  for (const firstBlock of [40, 10, 20]) {
    rows.add({
      sequence: -1,
      firstBlock,
      lastBlock: firstBlock + 9,
      bytes: 1,
      version: 1,
      offset: 0,
      length: 0,
    });
  }
  const range = { firstBlock: 5, lastBlock: 60 };
  expect(holesIn(range, rows, rows.choose(range))).toEqual([
    { firstBlock: 5, lastBlock: 9 },
    { firstBlock: 30, lastBlock: 39 },
    { firstBlock: 50, lastBlock: 60 },
  ]);
  const within = { firstBlock: 15, lastBlock: 24 };
  expect([...rows.choose(within)].map((index) => rows.at(index).firstBlock)).toEqual([10, 20]);
  expect(holesIn(within, rows, rows.choose(within))).toEqual([]);
});
