import { createHash } from 'node:crypto';
import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTimes, withTimes } from './block-times.js';
import { buildSkipFilter, mayContain, openFilter, skipFilterBytes } from './skip-filter.js';

function items(count: number, seed: string): Uint8Array[] {
  return Array.from({ length: count }, (_, n) => createHash('sha256').update(`${seed}${n}`).digest());
}

describe('a skip filter', () => {
  it('contains every item it was built of, whatever their number and length', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 400 }), (set) => {
        const filter = buildSkipFilter(set);
        expect(skipFilterBytes(filter)).toBe(filter.length);
        expect(set.every((item) => mayContain(filter, item))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('contains one of a thousand other items, in less than 12 bits an item', () => {
    const set = items(5_000, 'in');
    const filter = buildSkipFilter(set);
    expect(set.every((item) => mayContain(filter, item))).toBe(true);
    const wrong = items(40_000, 'out').filter((item) => mayContain(filter, item));
    expect(wrong.length).toBeGreaterThan(15);
    expect(wrong.length).toBeLessThan(80);
    expect((filter.length * 8) / set.length).toBeLessThan(12);
  });

  it('is the same for the same items in any order, repeated or not', () => {
    const set = items(700, 'x');
    expect(buildSkipFilter([...set].reverse().concat(set.slice(0, 50)))).toEqual(buildSkipFilter(set));
  });

  it('of nothing contains nothing', () => {
    const filter = buildSkipFilter([]);
    expect(filter.length).toBe(20);
    expect(items(50, 'y').some((item) => mayContain(filter, item))).toBe(false);
  });

  it('is refused if it is cut off, longer, or something else', () => {
    const filter = buildSkipFilter(items(20, 'z'));
    const changed = (at: number, value: number): Uint8Array => {
      const copy = Uint8Array.from(filter);
      copy[at] = value;
      return copy;
    };
    const wrong = [
      filter.subarray(0, -1),
      filter.subarray(0, 10),
      Buffer.concat([filter, Buffer.of(0)]),
      changed(0, 0),
      changed(4, 2),
      changed(6, 11),
      changed(6, 0),
      changed(6, 17),
      changed(8, 1),
      changed(11, 255),
    ];
    for (const bytes of wrong) {
      expect(() => mayContain(bytes, Buffer.of(1))).toThrow(
        expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID')),
      );
    }
  });

  it('keeps the times of the blocks beside its items, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2 ** 40 }), { minLength: 1, maxLength: 50 }), (times) => {
        const set = items(20, 't');
        const filter = withTimes(buildSkipFilter(set), times);
        expect(skipFilterBytes(filter)).toBe(filter.length);
        expect(readTimes(filter, times.length)).toEqual(times);
        expect(set.every((item) => mayContain(filter, item))).toBe(true);
        expect(() => readTimes(filter, times.length + 1)).toThrow('does not have the times');
      }),
      { numRuns: 60 },
    );
    expect(readTimes(buildSkipFilter([]), 3)).toBeNull();
    // Twelve seconds apart: a byte a block.
    const regular = Array.from({ length: 1_000 }, (_, n) => 1_700_000_000 + 12 * n);
    expect(withTimes(openFilter(), regular).length).toBe(20 + 5 + 999);
  });

  it('of a kind without items leaves nothing out', () => {
    const filter = withTimes(openFilter(), [5, 6]);
    expect(items(50, 'any').every((item) => mayContain(filter, item))).toBe(true);
  });
});
