import { expect, it } from 'vitest';
import { putDigits, withRegions } from '../../test/kernel-parts.js';

const { parts, regions } = withRegions(1_000, 1_000);
const [from, to] = regions as [number, number];
const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 77 + 11) & 255));

it('decodes any number of bytes, and writes none behind them', () => {
  for (let length = 0; length <= 256; length++) {
    const bytes = EVERY_BYTE.subarray(0, length);
    parts.bytes().fill(0xee, from, from + 1_000);
    parts.bytes().fill(0xee, to, to + 1_000);
    const digits = putDigits(parts, from + 1, bytes.toString('hex'));
    expect(parts.unhex(from + 1, digits, to + 3)).toBe(to + 3 + length);
    const expected = Buffer.alloc(1_000, 0xee);
    expected.set(bytes, 3);
    expect(
      parts
        .bytes()
        .subarray(to, to + 1_000)
        .equals(expected),
      `${length} bytes`,
    ).toBe(true);
  }
});

it('decodes each of the 256 bytes at each place of a vector', () => {
  for (let shift = 0; shift < 16; shift++) {
    const bytes = Buffer.concat([EVERY_BYTE.subarray(shift), EVERY_BYTE.subarray(0, shift)]);
    parts.unhex(from, putDigits(parts, from, bytes.toString('hex')), to);
    expect(
      parts
        .bytes()
        .subarray(to, to + 256)
        .equals(bytes),
    ).toBe(true);
  }
});
