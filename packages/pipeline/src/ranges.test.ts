import type { BlockRange } from '@packhouse/chain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countBlocks, intersectRanges, rangesInclude, subtractRanges, unionRanges } from './ranges.js';

const anyRanges = fc
  .array(
    fc.tuple(fc.nat(60), fc.nat(8)).map(([start, length]): BlockRange => ({ start, end: start + length })),
    { maxLength: 8 },
  )
  .map(unionRanges);

const members = (ranges: readonly BlockRange[]): Set<number> =>
  new Set(ranges.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, i) => start + i)));

test('union, subtraction and intersection agree with sets of block numbers', () => {
  fc.assert(
    fc.property(anyRanges, anyRanges, (a, b) => {
      const [setA, setB] = [members(a), members(b)];
      expect(members(unionRanges([...a, ...b]))).toEqual(new Set([...setA, ...setB]));
      expect(members(subtractRanges(a, b))).toEqual(new Set([...setA].filter((n) => !setB.has(n))));
      expect(members(intersectRanges(a, b))).toEqual(new Set([...setA].filter((n) => setB.has(n))));
      expect(countBlocks(a)).toBe(setA.size);
      for (let n = 0; n < 70; n++) expect(rangesInclude(a, n)).toBe(setA.has(n));
    }),
  );
});

test('ranges that touch become one', () => {
  expect(
    unionRanges([
      { start: 5, end: 9 },
      { start: 0, end: 4 },
    ]),
  ).toEqual([{ start: 0, end: 9 }]);
});
