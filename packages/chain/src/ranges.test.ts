import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addRange,
  countBlocks,
  intersectRanges,
  nextOutside,
  rangesInclude,
  startOutside,
  subtractAll,
  subtractRanges,
  unionRanges,
} from './ranges.js';
import type { BlockRange } from './record/kinds.js';

const anyRanges = fc
  .array(
    fc
      .tuple(fc.nat(60), fc.nat(8))
      .map(([firstBlock, length]): BlockRange => ({ firstBlock, lastBlock: firstBlock + length })),
    { maxLength: 8 },
  )
  .map(unionRanges);

const members = (ranges: readonly BlockRange[]): Set<number> =>
  new Set(
    ranges.flatMap(({ firstBlock, lastBlock }) =>
      Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => firstBlock + i),
    ),
  );

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
      { firstBlock: 5, lastBlock: 9 },
      { firstBlock: 0, lastBlock: 4 },
    ]),
  ).toEqual([{ firstBlock: 0, lastBlock: 9 }]);
});

test('what is outside of lists is found where it is asked for, as sets of block numbers say', () => {
  fc.assert(
    fc.property(
      fc.array(anyRanges, { maxLength: 4 }),
      fc.nat(60),
      fc.nat(20),
      (lists, firstBlock, length) => {
        const within = { firstBlock, lastBlock: firstBlock + length };
        const taken = new Set(lists.flatMap((list) => [...members(list)]));
        const left = [...members([within])].filter((n) => !taken.has(n));
        const parts = subtractAll(within, lists);
        expect([...members(parts)]).toEqual(left);
        expect(nextOutside(lists, within)?.firstBlock ?? null).toBe(left[0] ?? null);
        for (const part of parts)
          expect(startOutside(lists, part.lastBlock, firstBlock)).toBe(part.firstBlock);
      },
    ),
  );
});

test('ranges that are added one by one are the union of all', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(40), fc.nat(6)), { maxLength: 20 }), (given) => {
      const all = given.map(([firstBlock, length]) => ({ firstBlock, lastBlock: firstBlock + length }));
      const added: BlockRange[] = [];
      for (const range of all) addRange(added, range);
      expect(added).toEqual(unionRanges(all));
    }),
  );
});
