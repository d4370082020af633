import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PARTITION_BLOCKS } from '../iceberg/partition.js';
import { cellOf, createFits, layOut, GRID as SERVED } from './layout.js';

const GRID = { sizes: [100, 10, 5], larger: [], maxBytes: 1_000, maxBundleBytes: 3_000 };
const CELL = { firstBlock: 200, lastBlock: 299 };

const toText = (
  runs: [number, number][],
  sources: [number, number, number][] = [],
  share = 1,
  cell = CELL,
): string[] => {
  const bundles = sources.map(([firstBlock, lastBlock, byteLength]) => ({
    firstBlock,
    lastBlock,
    byteLength,
  }));
  const fits = createFits(bundles, (bytes) => bytes * share, GRID);
  const ranges = runs.map(([firstBlock, lastBlock]) => ({ firstBlock, lastBlock }));
  return layOut(cell, ranges, fits, GRID).map(({ firstBlock, lastBlock }) => `${firstBlock}-${lastBlock}`);
};

it('makes files as large as the grid allows, and small ones at the ends of a run', () => {
  expect(toText([[200, 299]])).toEqual(['200-299']);
  expect(toText([[203, 221]])).toEqual(['203-204', '205-209', '210-219', '220-221']);
  expect(
    toText([
      [200, 204],
      [206, 207],
    ]),
  ).toEqual(['200-204', '206-207']);
});

it('splits a whole cell into as few files as have not too many bytes each', () => {
  const bundles: [number, number, number][] = Array.from({ length: 20 }, (_, n) => {
    return [200 + 5 * n, 204 + 5 * n, 120];
  });
  expect(toText([[200, 299]], bundles)).toEqual(['200-234', '235-264', '265-299']);
  expect(toText([[200, 299]], bundles, 0.4)).toEqual(['200-299']);
  // Not too many bytes of bundles are read for a file, however small it is.
  expect(toText([[200, 299]], [...bundles, [200, 299, 2_500]], 0.01)).toHaveLength(5);
  expect(toText([[200, 299]], [[200, 299, 5_000]])).toHaveLength(20);
});

it('makes smaller files of a part of a cell if the bundles have more bytes than a file may have', () => {
  expect(toText([[200, 219]], [[200, 219, 800]])).toEqual(['200-209', '210-219']);
  expect(toText([[200, 209]], [[200, 209, 5_000]])).toEqual(['200-204', '205-209']);
});

it('covers exactly the blocks of the runs, in files that begin and end in one cell', () => {
  const cuts = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(cuts, fc.integer({ min: 0, max: 3_000 }), (numbers, bytes) => {
      const sorted = numbers.sort((a, b) => a - b);
      const runs: [number, number][] = [];
      for (let at = 0; at + 1 < sorted.length; at += 2) {
        const [first, last] = [sorted[at] as number, sorted[at + 1] as number];
        // Runs do not touch.
        if (first > (runs.at(-1)?.[1] ?? -2) + 1) runs.push([200 + first, 200 + last]);
      }
      const blocks = (ranges: string[]): number[] =>
        ranges.flatMap((text) => {
          const [first, last] = text.split('-').map(Number) as [number, number];
          return Array.from({ length: last - first + 1 }, (_, n) => first + n);
        });
      const files = toText(runs, [[200, 250, bytes]]);
      expect(blocks(files)).toEqual(blocks(runs.map(([first, last]) => `${first}-${last}`)));
    }),
  );
  expect(cellOf(299, GRID)).toEqual(CELL);
});

it('never makes a file of two partitions', () => {
  for (const size of [...SERVED.larger, ...SERVED.sizes]) expect(PARTITION_BLOCKS % size).toBe(0);
  for (const size of SERVED.larger) expect(size % (SERVED.sizes[0] as number)).toBe(0);
});
