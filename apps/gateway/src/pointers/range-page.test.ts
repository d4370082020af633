import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRange, packRanges, withRange } from './range-page.js';

/** Ascending, disjoint ranges from gaps and lengths. */
const ranges = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 0, max: 5 }),
      length: fc.integer({ min: 1, max: 9 }),
      notProved: fc.constantFrom(undefined, undefined, 'receiptsRoot', 'headerHash'),
    }),
    { maxLength: 60 },
  )
  .map((parts) => {
    let next = 16_000;
    return parts.map(({ gap, length, notProved }) => {
      const firstBlock = next + gap;
      next = firstBlock + length;
      return { firstBlock, lastBlock: next - 1, ...(notProved === undefined ? {} : { notProved }) };
    });
  });

describe('a page of the range index', () => {
  it('finds for each block exactly the range that holds it', () => {
    fc.assert(
      fc.property(ranges, (list) => {
        const page = packRanges(16_384, list);
        for (let block = 15_990; block < 16_900; block++) {
          expect(findRange(page, block)).toEqual(
            list.find((each) => each.firstBlock <= block && block <= each.lastBlock),
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is the same in whatever order its ranges are added', () => {
    fc.assert(
      fc.property(ranges, fc.integer(), (list, seed) => {
        const shuffled = [...list].sort(
          (a, b) => ((a.firstBlock * 31 + seed) % 7) - ((b.firstBlock * 31 + seed) % 7),
        );
        const added = shuffled.reduce(withRange, packRanges(16_384, []));
        for (const { firstBlock } of list) {
          expect(findRange(added, firstBlock)).toEqual(findRange(packRanges(16_384, list), firstBlock));
        }
        expect(added.offsets).toEqual(packRanges(16_384, list).offsets);
        expect(shuffled.reduce(withRange, added)).toBe(added);
      }),
      { numRuns: 50 },
    );
  });

  it('costs eight bytes a range', () => {
    expect(
      packRanges(0, [
        { firstBlock: 0, lastBlock: 9 },
        { firstBlock: 10, lastBlock: 19 },
      ]).offsets.byteLength,
    ).toBe(16);
  });

  it('holds a range that reaches further than 2^31 blocks', () => {
    const far = { firstBlock: 16_384, lastBlock: 2 ** 40 };
    expect(findRange(packRanges(16_384, [far]), 2 ** 40)).toEqual(far);
  });
});
