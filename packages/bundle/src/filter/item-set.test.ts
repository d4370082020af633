import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildItemSet, distinctDigests, type ItemSet, mayHold, OPEN_SET, toDigests } from './item-set.js';

function items(count: number, seed: string): Uint8Array[] {
  return Array.from({ length: count }, (_, n) => createHash('sha256').update(`${seed}${n}`).digest());
}
const setOf = (all: readonly Uint8Array[]): ItemSet => buildItemSet([toDigests(all)]);
const has = (set: ItemSet, item: Uint8Array): boolean => mayHold(set, distinctDigests([toDigests([item])]));

/** Digests of places alone, as hashes that nobody finds. */
function digests(...each: [first: number, ribbon: number, fingerprint: number][]): Buffer {
  return Buffer.concat(
    each.map(([first, ribbon, fingerprint]) => {
      const one = Buffer.alloc(10);
      one.writeUInt32LE(first, 0);
      one.writeUInt32LE(ribbon, 4);
      one.writeUInt16LE(fingerprint, 8);
      return one;
    }),
  );
}

describe('a set of items', () => {
  it('holds every item it was built of, whatever their number and length', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 400 }), (all) => {
        const set = setOf(all);
        expect(all.every((item) => has(set, item))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('holds one of a thousand other items, in less than 12 bits an item', () => {
    const all = items(5_000, 'in');
    const set = setOf(all);
    expect(all.every((item) => has(set, item))).toBe(true);
    const wrong = items(40_000, 'out').filter((item) => has(set, item));
    expect(wrong.length).toBeGreaterThan(15);
    expect(wrong.length).toBeLessThan(80);
    expect((set.columns.length * 8) / all.length).toBeLessThan(12);
  });

  it('is the same for the same items in any order, repeated or not', () => {
    const all = items(700, 'x');
    expect(setOf([...all].reverse().concat(all.slice(0, 50)))).toEqual(setOf(all));
  });

  it('of nothing holds nothing, and an open one everything', () => {
    expect(items(50, 'y').some((item) => has(setOf([]), item))).toBe(false);
    expect(items(50, 'y').every((item) => has(OPEN_SET, item))).toBe(true);
  });

  it('has more slots where the first number of them leads to a contradiction', () => {
    const first = Math.ceil(2 * 1.03) + 32;
    // At the same place with as many slots as are tried first, and with more at different ones.
    const set = buildItemSet([digests([0, 1, 1], [first - 31, 1, 2])]);
    expect(set.slots).toBeGreaterThan(first);
    expect(mayHold(set, distinctDigests([digests([0, 1, 1], [first - 31, 1, 2])]))).toBe(true);
  });

  it('is open if items contradict each other with any number of slots', () => {
    expect(buildItemSet([digests([7, 9, 1], [7, 9, 2])])).toBe(OPEN_SET);
  });
});
