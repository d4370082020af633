import { RLP } from '@ethereumjs/rlp';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Parts, putDigits, withRegions } from '../../test/kernel-parts.js';

/** Of more than the largest items that are made. */
const ROOM = 8_000_000;
const HEADROOM = 24;

/** Digits of a number or of bytes, or a list. */
type Field =
  | { kind: 'empty' }
  | { kind: 'data'; digits: string }
  | { kind: 'quantity'; digits: string }
  | { kind: 'list'; fields: Field[] };

const { fields } = fc.letrec<{ field: Field; fields: Field[] }>((tie) => ({
  fields: fc.array(tie('field'), { maxLength: 8 }),
  field: fc.oneof(
    { maxDepth: 3 },
    fc.record({
      kind: fc.constant('data' as const),
      digits: fc
        .uint8Array({ maxLength: 300, size: 'max' })
        .map((bytes) => Buffer.from(bytes).toString('hex')),
    }),
    fc.record({
      kind: fc.constant('quantity' as const),
      digits: fc
        .tuple(
          fc.nat({ max: 3 }),
          fc.oneof(fc.nat({ max: 300 }).map(BigInt), fc.bigInt({ min: 0n, max: 1n << 255n })),
        )
        .map(([zeros, value]) => '0'.repeat(zeros) + value.toString(16)),
    }),
    fc.record({ kind: fc.constant('empty' as const) }),
    fc.record({ kind: fc.constant('list' as const), fields: tie('fields') }),
  ),
}));

type Nested = Uint8Array | bigint | Nested[];
function getExpected(field: Field): Nested {
  if (field.kind === 'empty') return Buffer.alloc(0);
  if (field.kind === 'data') return Buffer.from(field.digits, 'hex');
  return field.kind === 'quantity' ? BigInt(`0x${field.digits}`) : field.fields.map(getExpected);
}

function write(parts: Parts, scratch: number, field: Field): void {
  if (field.kind === 'empty') parts.putEmpty();
  else if (field.kind === 'data') parts.putData(scratch, putDigits(parts, scratch, field.digits));
  else if (field.kind === 'quantity') parts.putQuantity(scratch, putDigits(parts, scratch, field.digits));
  else {
    const list = parts.beginList();
    for (const inner of field.fields) write(parts, scratch, inner);
    parts.endList(list);
  }
}

function writeItem(parts: Parts, scratch: number, list: readonly Field[], type = 0): boolean {
  const payload = parts.beginItem();
  for (const field of list) write(parts, scratch, field);
  return parts.endItem(payload, type) !== 0;
}

const { parts, regions } = withRegions(ROOM, 8 * 20, 1_000);
const [bytesAt, itemsAt, scratch] = regions as [number, number, number];
const item = (index: number) => parts.bytes().subarray(parts.itemStart(index), parts.itemEnd(index));

describe('RLP of the scanner', () => {
  it('writes items of numbers, bytes and lists as @ethereumjs/rlp does, with their types in front', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fields, fc.nat({ max: 4 })), { maxLength: 5 }), (items) => {
        parts.openRlp(bytesAt, bytesAt + ROOM, itemsAt, itemsAt + 8 * 20);
        for (const [list, type] of items) expect(writeItem(parts, scratch, list, type)).toBe(true);
        expect(parts.itemCount()).toBe(items.length);
        for (const [index, [list, type]] of items.entries()) {
          const encoded = RLP.encode(list.map(getExpected));
          expect(item(index)).toEqual(Buffer.concat([Buffer.alloc(type === 0 ? 0 : 1, type), encoded]));
        }
      }),
    );
  });

  it('writes strings and lists of every length around those where heads grow', () => {
    for (const length of [0, 1, 2, 54, 55, 56, 57, 254, 255, 256, 257, 65_534, 65_535, 65_536, 65_537]) {
      const data = Buffer.alloc(length, 0x7f);
      const list: Field[] = [{ kind: 'list', fields: [{ kind: 'data', digits: data.toString('hex') }] }];
      const large = withRegions(2 * length + 1_000, 8, 2 * length + 2);
      const [at, table, digits] = large.regions as [number, number, number];
      large.parts.openRlp(at, at + 2 * length + 1_000, table, table + 8);
      expect(writeItem(large.parts, digits, list)).toBe(true);
      const written = large.parts.bytes().subarray(large.parts.itemStart(0), large.parts.itemEnd(0));
      expect(written.equals(RLP.encode([[data]])), `${length} bytes`).toBe(true);
      const zeros = Array.from({ length: Math.min(length, 300) }, () => 0n);
      expect(parts.rlpListLength(zeros.length)).toBe(RLP.encode(zeros).length);
    }
    expect(parts.rlpListLength(0xffff)).toBe(0xffff + 3);
    expect(parts.rlpListLength(0x1_0000)).toBe(0x1_0000 + 4);
    expect(parts.rlpListLength(0x100_0000)).toBe(0x100_0000 + 5);
  });
});

describe('what does not fit', () => {
  const list: Field[] = [
    { kind: 'quantity', digits: '0' },
    { kind: 'quantity', digits: '5208' },
    { kind: 'empty' },
    {
      kind: 'list',
      fields: [
        { kind: 'data', digits: 'ab'.repeat(20) },
        { kind: 'list', fields: [{ kind: 'data', digits: 'cd'.repeat(32) }] },
      ],
    },
    { kind: 'list', fields: [{ kind: 'data', digits: 'ef'.repeat(60) }] },
    { kind: 'data', digits: '12'.repeat(70) },
  ];

  it('is not written: neither to the bytes behind the region, nor anything after it', () => {
    const encoded = RLP.encode(list.map(getExpected));
    // The head of the item is in the room before it.
    const needed = HEADROOM + encoded.length - 2 - (encoded[0]! - 0xf8);
    for (let size = 0; size <= needed; size++) {
      parts.bytes().fill(0xee, bytesAt, bytesAt + 1_000);
      parts.openRlp(bytesAt, bytesAt + size, itemsAt, itemsAt + 8 * 20);
      expect(writeItem(parts, scratch, list), `${size} of ${needed} bytes`).toBe(size === needed);
      const behind = parts.bytes().subarray(bytesAt + size, bytesAt + 1_000);
      expect(
        behind.every((byte) => byte === 0xee),
        `behind ${size} bytes`,
      ).toBe(true);
      const count = parts.itemCount();
      expect(count).toBe(size === needed ? 1 : 0);
      expect(writeItem(parts, scratch, [])).toBe(false);
      expect(parts.itemCount()).toBe(count);
    }
    parts.openRlp(bytesAt, bytesAt + needed, itemsAt, itemsAt + 8 * 20);
    expect(writeItem(parts, scratch, list)).toBe(true);
    expect(item(0).equals(encoded)).toBe(true);
  });

  it('ends the writing, so that what is smaller and would fit is not written either', () => {
    parts.bytes().fill(0xee, bytesAt, bytesAt + 100);
    parts.openRlp(bytesAt, bytesAt + 100, itemsAt, itemsAt + 8 * 20);
    parts.beginItem();
    parts.putData(scratch, putDigits(parts, scratch, 'ab'.repeat(90)));
    parts.putEmpty();
    parts.putQuantity(scratch, 2);
    parts.endList(parts.beginList());
    expect(writeItem(parts, scratch, [])).toBe(false);
    expect(parts.bytes().subarray(bytesAt, bytesAt + 100)).toEqual(Buffer.alloc(100, 0xee));
  });

  it('is no item when there is no more room for items', () => {
    parts.bytes().fill(0xee, itemsAt, itemsAt + 40);
    for (const spare of [0, 1, 7]) {
      parts.openRlp(bytesAt, bytesAt + ROOM, itemsAt, itemsAt + 16 + spare);
      expect([1, 2, 3, 4].map(() => writeItem(parts, scratch, list))).toEqual([true, true, false, false]);
      expect(parts.itemCount()).toBe(2);
      expect(parts.bytes().subarray(itemsAt + 16, itemsAt + 40)).toEqual(Buffer.alloc(24, 0xee));
    }
  });
});
