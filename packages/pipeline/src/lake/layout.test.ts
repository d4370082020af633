import { PARTITION_BLOCKS } from '@packhouse/lake';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cellOf, layOut, GRID as SERVED } from './layout.js';

const GRID = { sizes: [100, 10, 5], maxBytes: 1_000 };

const toText = (runs: [number, number][], sources: [number, number, number][] = []): string[] =>
  layOut(
    runs.map(([firstBlock, lastBlock]) => ({ firstBlock, lastBlock })),
    sources.map(([firstBlock, lastBlock, byteLength]) => ({ firstBlock, lastBlock, byteLength })),
    GRID,
  ).map(({ firstBlock, lastBlock }) => `${firstBlock}-${lastBlock}`);

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

it('makes smaller files if the bundles have more bytes than a file may have', () => {
  expect(
    toText(
      [[200, 299]],
      [
        [200, 249, 600],
        [250, 299, 600],
      ],
    ),
  ).toHaveLength(10);
  expect(toText([[200, 209]], [[200, 209, 5_000]])).toEqual(['200-204', '205-209']);
});

it('covers exactly the blocks of the runs, in files that begin and end in one cell', () => {
  const cuts = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(cuts, (numbers) => {
      const sorted = numbers.sort((a, b) => a - b);
      const runs: [number, number][] = [];
      for (let at = 0; at + 1 < sorted.length; at += 2) {
        const [first, last] = [sorted[at] as number, sorted[at + 1] as number];
        // Runs do not touch.
        if (first > (runs.at(-1)?.[1] ?? -2) + 1) runs.push([100 + first, 100 + last]);
      }
      const blocks = (ranges: string[]): number[] =>
        ranges.flatMap((text) => {
          const [first, last] = text.split('-').map(Number) as [number, number];
          return Array.from({ length: last - first + 1 }, (_, n) => first + n);
        });
      expect(blocks(toText(runs))).toEqual(blocks(runs.map(([first, last]) => `${first}-${last}`)));
    }),
  );
  expect(cellOf(299, GRID)).toEqual({ firstBlock: 200, lastBlock: 299 });
});

it('never makes a file of two partitions', () => {
  expect(PARTITION_BLOCKS % (SERVED.sizes[0] as number)).toBe(0);
});
