import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGrouper, FRAGMENT_BYTES, type Group } from './create-grouper.js';

function groupAll(sizes: readonly number[], limit: number): Group[] {
  const grouper = createGrouper(limit);
  const groups = sizes.flatMap((size, block) => grouper.push(block, size));
  const last = grouper.flush();
  return last === null ? groups : [...groups, last];
}

describe('createGrouper', () => {
  it('puts every block into exactly one group, in order, with the length of its text', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 2, max: 300 })), (sizes) => {
        const groups = groupAll(sizes, 100);
        const blocks = groups.flatMap(({ firstBlock, lastBlock }) =>
          Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => firstBlock + i),
        );
        expect(blocks).toEqual(sizes.map((_, block) => block));
        for (const { firstBlock, lastBlock, rawLength } of groups) {
          const records = sizes.slice(firstBlock, lastBlock + 1);
          expect(rawLength).toBe(records.reduce((sum, size) => sum + size, 0) + records.length - 1);
        }
      }),
    );
  });

  it('leaves a record of the limit alone, and closes no other group before the limit is reached', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 2, max: 300 })), (sizes) => {
        const groups = groupAll(sizes, 100);
        for (const [index, { firstBlock, lastBlock, rawLength }] of groups.entries()) {
          if (sizes.slice(firstBlock, lastBlock + 1).some((size) => size >= 100))
            expect(firstBlock).toBe(lastBlock);
          const next = sizes[lastBlock + 1];
          if (index < groups.length - 1 && next !== undefined && next < 100) {
            expect(rawLength).toBeGreaterThanOrEqual(100);
          }
        }
      }),
    );
  });

  it('closes two groups at once when a large record follows small ones', () => {
    const grouper = createGrouper();
    expect(grouper.push(5, 1_000)).toEqual([]);
    expect(grouper.push(6, FRAGMENT_BYTES)).toEqual([
      { firstBlock: 5, lastBlock: 5, rawLength: 1_000 },
      { firstBlock: 6, lastBlock: 6, rawLength: FRAGMENT_BYTES },
    ]);
    expect(grouper.flush()).toBeNull();
  });

  it('never lets a group span blocks that are not there', () => {
    const grouper = createGrouper();
    grouper.push(5, 10);
    expect(grouper.push(7, 10)).toEqual([{ firstBlock: 5, lastBlock: 5, rawLength: 10 }]);
    expect(grouper.flush()).toEqual({ firstBlock: 7, lastBlock: 7, rawLength: 10 });
  });

  it('goes on behind a flush, and refuses a block that was there', () => {
    const grouper = createGrouper();
    grouper.push(5, 10);
    grouper.flush();
    expect(grouper.push(6, 10)).toEqual([]);
    expect(() => grouper.push(6, 10)).toThrow(expect.toSatisfy((e) => isPackhouseError(e, 'RANGE_INVALID')));
  });
});
