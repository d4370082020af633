import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseCut } from './choose-cut.js';
import type { FragmentInfo } from './fragment.js';
import { memberSize } from './member-frame.js';

function toRun(sizes: readonly { byteLength: number; blocks: number }[]): FragmentInfo[] {
  let next = 100;
  return sizes.map(({ byteLength, blocks }) => {
    const firstBlock = next;
    next += blocks;
    return { firstBlock, lastBlock: next - 1, byteLength, rawLength: byteLength * 4, crc32: 0 };
  });
}

const sizes = fc.array(
  fc.record({ byteLength: fc.integer({ min: 5, max: 500 }), blocks: fc.integer({ min: 1, max: 20 }) }),
);

describe('chooseCut', () => {
  it('takes as much as fits, and at least one fragment', () => {
    fc.assert(
      fc.property(
        sizes,
        fc.integer({ min: 1, max: 2_000 }),
        fc.integer({ min: 1, max: 60 }),
        (list, maxBytes, maxBlocks) => {
          const fragments = toRun(list);
          const blocks = (count: number) => (fragments[count - 1]?.lastBlock ?? 99) - 99;
          const fits = (count: number) =>
            memberSize(fragments.slice(0, count)) <= maxBytes && blocks(count) <= maxBlocks;
          const { count, full } = chooseCut(fragments, maxBytes, maxBlocks);
          expect(count).toBeGreaterThanOrEqual(Math.min(1, fragments.length));
          if (count > 1) expect(fits(count)).toBe(true);
          if (count < fragments.length) {
            expect(fits(count + 1)).toBe(false);
            expect(full).toBe(true);
          }
        },
      ),
    );
  });

  it('does not change a full cut when more fragments come, whatever they are', () => {
    fc.assert(
      fc.property(sizes, sizes, (before, after) => {
        const cut = chooseCut(toRun(before), 1_000, 50);
        if (cut.full) expect(chooseCut(toRun([...before, ...after]), 1_000, 50)).toEqual(cut);
      }),
    );
  });

  it('says that a cut is not full while everything fits, and that it is once a limit is reached', () => {
    const one = { byteLength: 100, blocks: 10 };
    expect(chooseCut([], 1_000, 50)).toEqual({ count: 0, full: false });
    expect(chooseCut(toRun([one, one]), 1_000, 50)).toEqual({ count: 2, full: false });
    expect(chooseCut(toRun([one, one]), 1_000, 20)).toEqual({ count: 2, full: true });
    expect(chooseCut(toRun([one, one]), memberSize(toRun([one, one])), 50)).toEqual({ count: 2, full: true });
  });

  it('gives one fragment that is larger than every limit a bundle of its own', () => {
    const huge = { byteLength: 5_000, blocks: 300 };
    expect(chooseCut(toRun([huge]), 1_000, 50)).toEqual({ count: 1, full: true });
    expect(chooseCut(toRun([{ byteLength: 10, blocks: 1 }, huge]), 1_000, 50)).toEqual({
      count: 1,
      full: true,
    });
  });

  it('refuses fragments with a hole between them', () => {
    const [a, , c] = toRun([1, 2, 3].map(() => ({ byteLength: 10, blocks: 1 }))) as [
      FragmentInfo,
      FragmentInfo,
      FragmentInfo,
    ];
    expect(() => chooseCut([a, c], 1_000, 50)).toThrow(
      expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID')),
    );
  });
});
