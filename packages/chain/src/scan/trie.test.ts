import { beforeAll, describe, expect, it } from 'vitest';
import { putDigits, withRegions } from '../../test/kernel-parts.js';
import { createKeccak256, type Keccak, toHex } from '../encode/keccak.js';
import { RlpBuffer } from '../encode/rlp-buffer.js';
import { EMPTY_ROOT, trieRoot } from '../encode/trie-root.js';

const MANY = 70_000;
const ROOM = 64 * MANY;
const DIGITS = '0123456789abcdef'.repeat(25);
const { parts, regions } = withRegions(ROOM, 8 * MANY, 400, 64);
const [bytesAt, itemsAt, digitsAt, rootAt] = regions as [number, number, number, number];

let keccak: Keccak;
beforeAll(async () => {
  keccak = await createKeccak256();
  putDigits(parts, digitsAt, DIGITS);
});

/** Roots of items that are lists of one string of so many bytes each, and of no string if that is negative. */
function bothRoots(lengths: readonly number[], type = 0): [string, string] {
  const rlp = new RlpBuffer();
  parts.openRlp(bytesAt, bytesAt + ROOM, itemsAt, itemsAt + 8 * MANY);
  for (const length of lengths) {
    const payload = rlp.beginItem();
    if (length >= 0) rlp.data(`0x${DIGITS.slice(0, 2 * length)}`);
    rlp.endItem(payload, type);
    const ours = parts.beginItem();
    if (length >= 0) parts.putData(digitsAt, 2 * length);
    parts.endItem(ours, type);
  }
  parts.bytes().fill(0xee, rootAt, rootAt + 64);
  expect(parts.itemCount()).toBe(lengths.length);
  expect(parts.trieRoot(rootAt)).toBe(1);
  expect(parts.bytes().subarray(rootAt + 32, rootAt + 64)).toEqual(Buffer.alloc(32, 0xee));
  return [toHex(parts.bytes().subarray(rootAt, rootAt + 32)), toHex(trieRoot(rlp, keccak))];
}

describe('the root of a trie', () => {
  it('of nothing is the hash of the empty string', () => {
    expect(bothRoots([])).toEqual([EMPTY_ROOT, EMPTY_ROOT]);
  });

  it("is the prover's, for each number of items to 300, of any size, with types and without", () => {
    for (let count = 1; count <= 300; count++) {
      const lengths = Array.from({ length: count }, (_, index) => ((index * 37 + count * 11) % 201) - 1);
      const [ours, theirs] = bothRoots(lengths, count % 3);
      expect(ours, `${count} items`).toBe(theirs);
    }
  });

  it("is the prover's where leaves are so short that they are inside of their parents", () => {
    for (let count = 1; count <= 300; count++) {
      for (const length of [-1, 0, 20, 28]) {
        const [ours, theirs] = bothRoots(new Array(count).fill(length));
        expect(ours, `${count} items of ${length} bytes`).toBe(theirs);
      }
    }
  });

  it("is the prover's for keys of three and of four bytes", () => {
    for (const count of [4_352, 65_536, 65_537, MANY]) {
      const [ours, theirs] = bothRoots(Array.from({ length: count }, (_, index) => index % 5));
      expect(ours, `${count} items`).toBe(theirs);
    }
  });

  it('is not told when an item did not fit, nor of more items than keys of four bytes can name', () => {
    parts.bytes().fill(0xee, rootAt, rootAt + 64);
    parts.openRlp(bytesAt, bytesAt + ROOM, itemsAt, itemsAt + 8);
    expect([1, 2].map(() => parts.endItem(parts.beginItem(), 0))).toEqual([1, 0]);
    expect(parts.trieRoot(rootAt)).toBe(0);
    expect(parts.bytes().subarray(rootAt, rootAt + 64)).toEqual(Buffer.alloc(64, 0xee));

    const most = 0x100_0000;
    const { parts: large, regions } = withRegions(8 * (most + 1), 64);
    const [items, bytes] = regions as [number, number];
    large.openRlp(bytes, bytes + 64, items, items + 8 * (most + 1));
    // All items are the same bytes.
    const payload = large.beginItem();
    for (let index = 0; index <= most; index++) large.endItem(payload, 0);
    expect(large.itemCount()).toBe(most + 1);
    expect(large.trieRoot(bytes)).toBe(0);
  });

  it('writes nothing outside of the items and the room before them', () => {
    parts.bytes().fill(0xee, bytesAt, bytesAt + 10_000);
    parts.openRlp(bytesAt + 100, bytesAt + ROOM, itemsAt, itemsAt + 8 * MANY);
    for (let index = 0; index < 150; index++) {
      const payload = parts.beginItem();
      parts.putData(digitsAt, 40);
      parts.endItem(payload, 2);
    }
    const end = parts.itemEnd(149);
    parts.trieRoot(rootAt);
    expect(parts.bytes().subarray(bytesAt, bytesAt + 100)).toEqual(Buffer.alloc(100, 0xee));
    expect(parts.bytes().subarray(end, end + 100)).toEqual(Buffer.alloc(100, 0xee));
    const before = Buffer.from(parts.bytes().subarray(rootAt, rootAt + 32));
    parts.trieRoot(rootAt);
    expect(parts.bytes().subarray(rootAt, rootAt + 32)).toEqual(before);
  });
});
