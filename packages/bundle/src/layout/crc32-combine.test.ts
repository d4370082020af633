import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32Combine } from './member-frame.js';

/** The CRC of `exponent` doublings of a megabyte of zero bytes, each from the one before. */
function crcOfZeroes(doublings: number): { crc: number; length: number } {
  let crc = crc32(Buffer.alloc(2 ** 20));
  let length = 2 ** 20;
  for (let i = 0; i < doublings; i++) {
    crc = crc32Combine(crc, crc, length);
    length *= 2;
  }
  return { crc, length };
}

describe('crc32Combine', () => {
  it('gives the CRC of the concatenation', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3_000 }), fc.uint8Array({ maxLength: 3_000 }), (a, b) => {
        const combined = crc32Combine(crc32(Buffer.from(a)), crc32(Buffer.from(b)), b.length);
        expect(combined).toBe(crc32(Buffer.concat([a, b])));
      }),
    );
  });

  it('is unsigned, and leaves a CRC alone when nothing follows', () => {
    expect(crc32Combine(0xffffffff, 0, 0)).toBe(0xffffffff);
    expect(crc32Combine(0, 0xfedcba98, 12)).toBe(0xfedcba98);
  });

  it('agrees with zlib over 32 MiB that were really read', () => {
    const { crc, length } = crcOfZeroes(5);
    expect(crc).toBe(crc32(Buffer.alloc(length)));
  });

  it('is right for lengths beyond 2^32: cutting 16 GiB elsewhere changes nothing', () => {
    const small = crcOfZeroes(2);
    const large = crcOfZeroes(14);
    expect(large.length).toBeGreaterThan(2 ** 32);
    const head = crc32(Buffer.from('head'));
    const leftFirst = crc32Combine(crc32Combine(head, small.crc, small.length), large.crc, large.length);
    const rightFirst = crc32Combine(
      head,
      crc32Combine(small.crc, large.crc, large.length),
      small.length + large.length,
    );
    const otherOrder = crc32Combine(crc32Combine(head, large.crc, large.length), small.crc, small.length);
    expect(leftFirst).toBe(rightFirst);
    expect(leftFirst).toBe(otherOrder);
    expect(leftFirst).not.toBe(crc32Combine(head, large.crc, (small.length + large.length) % 2 ** 32));
  });
});
