import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FragmentInfo } from './fragment.js';
import { decodeFragmentTable, encodeFragmentTable } from './fragment.js';

const invalid = expect.toSatisfy((error) => isPackhouseError(error, 'BUNDLE_INVALID'));

const run = fc
  .tuple(
    fc.integer({ min: 0, max: 2 ** 40 }),
    fc.array(
      fc.record({
        blocks: fc.integer({ min: 1, max: 2 ** 33 }),
        byteLength: fc.integer({ min: 1, max: 2 ** 34 }),
        rawLength: fc.integer({ min: 1, max: 2 ** 36 }),
        crc32: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      }),
      { minLength: 1, maxLength: 60 },
    ),
  )
  .map(([first, entries]) => {
    let next = first;
    return entries.map(({ blocks, ...rest }): FragmentInfo => {
      const firstBlock = next;
      next += blocks;
      return { firstBlock, lastBlock: next - 1, ...rest };
    });
  });

describe('the fragment table', () => {
  it('gives back what was written', () => {
    fc.assert(
      fc.property(run, (fragments) => {
        const bytes = encodeFragmentTable(fragments);
        expect(decodeFragmentTable(fragments[0]?.firstBlock as number, bytes)).toEqual(fragments);
      }),
    );
  });

  it('is compact: about eleven bytes a fragment of usual size', () => {
    const fragments = Array.from({ length: 8 }, (_, i) => ({
      firstBlock: 17_686_110 + i,
      lastBlock: 17_686_110 + i,
      byteLength: 138_000,
      rawLength: 440_000,
      crc32: 0xdeadbeef,
    }));
    expect(encodeFragmentTable(fragments).length).toBe(2 + 8 * 11);
  });

  it('refuses a table that was cut off anywhere or has bytes left over', () => {
    fc.assert(
      fc.property(run, fc.nat(), (fragments, at) => {
        const bytes = encodeFragmentTable(fragments);
        expect(() => decodeFragmentTable(0, bytes.subarray(0, at % bytes.length))).toThrow(invalid);
        expect(() => decodeFragmentTable(0, Buffer.concat([bytes, Buffer.from([1])]))).toThrow(invalid);
      }),
    );
  });

  it('reads garbage only where it is byte for byte what the encoder would have written', () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.uint8Array({ maxLength: 40 }).map((rest) => Uint8Array.from([1, 1, ...rest])),
    );
    fc.assert(
      fc.property(garbage, (bytes) => {
        let fragments: FragmentInfo[];
        try {
          fragments = decodeFragmentTable(0, bytes);
        } catch (error) {
          expect(error).toEqual(invalid);
          return;
        }
        expect(encodeFragmentTable(fragments).equals(bytes)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['another version', '02010101010000000000'],
    ['a padded number', '0181000101000000000000'],
    ['a size of zero', '01010100010000000000'],
    ['no fragments', '0100'],
    ['more fragments than the bytes can hold', '01ffffffff0f01010100000000'],
    ['a number beyond all integers', '0101ffffffffffffffffff0101010000000000'],
    ['nothing', ''],
  ])('refuses %s', (_, hex) => {
    expect(() => decodeFragmentTable(0, Buffer.from(hex, 'hex'))).toThrow(invalid);
  });

  it('refuses to write fragments that do not follow each other', () => {
    const at = (firstBlock: number, lastBlock: number): FragmentInfo => ({
      firstBlock,
      lastBlock,
      byteLength: 9,
      rawLength: 9,
      crc32: 1,
    });
    expect(() => encodeFragmentTable([at(0, 1), at(3, 4)])).toThrow(invalid);
    expect(() => encodeFragmentTable([at(0, 2), at(2, 4)])).toThrow(invalid);
    expect(() => encodeFragmentTable([])).toThrow(invalid);
    expect(() => encodeFragmentTable([{ ...at(0, 1), crc32: -1 }])).toThrow(invalid);
  });
});
