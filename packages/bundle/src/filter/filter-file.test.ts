import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTimes, readTimes } from './block-times.js';
import { encodeFilter, type FilteredPart, filterBytes, readFilter } from './filter-file.js';
import { buildItemSet, OPEN_SET, toDigests } from './item-set.js';

const part = (firstBlock: number, items: number): FilteredPart => ({
  firstBlock,
  lastBlock: firstBlock + 2,
  byteLength: 1_000 + firstBlock,
  rawLength: 5_000,
  crc32: 7,
  sha256: Buffer.alloc(32, firstBlock),
  items: buildItemSet([toDigests(Array.from({ length: items }, (_, n) => Buffer.of(firstBlock, n)))]),
});

describe('the object of a filter', () => {
  it('is read as it was written, with the places of its parts', () => {
    const parts = [part(10, 20), part(13, 0), { ...part(16, 0), items: OPEN_SET }];
    const times = encodeTimes([5, 6, 7]);
    const object = encodeFilter(parts, times);
    const filter = readFilter(object, 10);
    expect(filter.parts.map(({ start }) => start)).toEqual([16, 16 + 1_010 + 6, 16 + 1_010 + 6 + 1_013 + 6]);
    expect(filter.parts).toMatchObject(
      parts.map((each) => ({ ...each, items: { slots: each.items.slots } })),
    );
    expect(Buffer.from(filter.parts[0]?.items.columns ?? [])).toEqual(
      Buffer.from(parts[0]?.items.columns ?? []),
    );
    expect(readTimes(filter.times, 3)).toEqual([5, 6, 7]);
    // A signature may stand behind it.
    expect(filterBytes(Buffer.concat([object, Buffer.alloc(72)]))).toBe(object.length);
  });

  it('is refused if it is cut off anywhere, longer, or something else', () => {
    const object = encodeFilter([part(10, 20), part(13, 3)], encodeTimes([1, 2]));
    const invalid = expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID'));
    const changed = (at: number, value: number): Buffer => {
      const copy = Buffer.from(object);
      copy[at] = value;
      return copy;
    };
    const wrong = [
      ...Array.from(object, (_, at) => object.subarray(0, at)),
      Buffer.concat([object, Buffer.of(0)]),
      changed(0, 0),
      changed(4, 2),
      changed(5, 11),
      changed(5, 17),
      changed(8, 255),
      changed(12, 9),
      changed(18, 200),
    ];
    for (const bytes of wrong) expect(() => readFilter(bytes, 10)).toThrow(invalid);
    for (const at of object.keys()) expect(() => filterBytes(object.subarray(0, at))).toThrow(invalid);
  });

  it('keeps the times of blocks, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2 ** 40 }), { minLength: 1, maxLength: 50 }), (times) => {
        expect(readTimes(encodeTimes(times), times.length)).toEqual(times);
        expect(() => readTimes(encodeTimes(times), times.length + 1)).toThrow('does not have the times');
      }),
      { numRuns: 60 },
    );
    expect(readTimes(encodeTimes([]), 3)).toBeNull();
    // Twelve seconds apart: a byte a block.
    const regular = Array.from({ length: 1_000 }, (_, n) => 1_700_000_000 + 12 * n);
    expect(encodeTimes(regular).length).toBe(5 + 999);
  });
});
