import { keccak_256 } from '@noble/hashes/sha3';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withRegions } from '../../test/kernel-parts.js';

const MOST = 5_000;
const { parts, regions } = withRegions(MOST, 64);
const [from, to] = regions as [number, number];

function getHash(bytes: Uint8Array): Buffer {
  parts.bytes().set(bytes, from);
  parts.keccak(from, bytes.length, to);
  return Buffer.from(parts.bytes().subarray(to, to + 32));
}

it('hashes as @noble/hashes does, at every length around a block of the sponge', () => {
  for (let length = 0; length <= 300; length++) {
    // Bytes behind the input must not matter.
    parts.bytes().fill(0xee, from, from + MOST);
    const bytes = Buffer.alloc(length, length * 7 + 129);
    expect(getHash(bytes).equals(keccak_256(bytes)), `${length} bytes`).toBe(true);
  }
});

it('hashes as @noble/hashes does, whatever the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: MOST, size: 'max' }), (bytes) => {
      expect(getHash(bytes).equals(keccak_256(bytes))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

it('writes 32 bytes at any address, even over its input', () => {
  const bytes = Buffer.from('some bytes that are longer than a hash is');
  parts.bytes().fill(0xee, to, to + 64);
  parts.bytes().set(bytes, to + 3);
  parts.keccak(to + 3, bytes.length, to + 5);
  const expected = Buffer.alloc(64, 0xee);
  expected.set(bytes, 3);
  expected.set(keccak_256(bytes), 5);
  expect(parts.bytes().subarray(to, to + 64)).toEqual(expected);
});
