import { RLP } from '@ethereumjs/rlp';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headerLength, RlpBuffer } from './rlp-buffer.js';

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
const bytes = fc.uint8Array({ maxLength: 300 }).map(hex);
const quantity = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }).map((value) => `0x${value.toString(16)}`);
const field = fc.oneof(
  bytes.map((text) => ({ kind: 'data' as const, text })),
  quantity.map((text) => ({ kind: 'quantity' as const, text })),
  fc.integer({ min: 0, max: 300 }).map((value) => ({
    kind: 'quantity' as const,
    text: `0x${value.toString(16)}`,
  })),
);
type Field = { kind: 'data' | 'quantity'; text: string };

const oracle = ({ kind, text }: Field) =>
  kind === 'data' ? Buffer.from(text.slice(2), 'hex') : BigInt(text);
const write = (rlp: RlpBuffer, { kind, text }: Field) => rlp[kind](text);

describe('RlpBuffer', () => {
  it('writes lists of strings and numbers as @ethereumjs/rlp does, whatever was written before', () => {
    fc.assert(
      fc.property(fc.array(fc.array(field, { maxLength: 20 }), { maxLength: 5 }), (items) => {
        const rlp = new RlpBuffer();
        for (const fields of items) {
          const payload = rlp.beginItem();
          for (const each of fields) write(rlp, each);
          rlp.endItem(payload);
        }
        items.forEach((fields, index) => {
          expect(hex(rlp.item(index))).toBe(hex(RLP.encode(fields.map(oracle))));
        });
      }),
    );
  });

  it('writes lists inside of lists, and knows their lengths', () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 30 }), (fields) => {
        const rlp = new RlpBuffer();
        const payload = rlp.beginItem();
        const outer = rlp.beginList();
        const list = rlp.beginList();
        for (const each of fields) write(rlp, each);
        const inner = rlp.position - list;
        rlp.endList(list);
        rlp.endList(outer);
        rlp.endItem(payload);
        const expected = RLP.encode([fields.map(oracle)]);
        expect(hex(rlp.item(0))).toBe(hex(RLP.encode([[fields.map(oracle)]])));
        const whole = headerLength(inner) + inner;
        expect(expected.length).toBe(headerLength(whole) + whole);
      }),
    );
  });

  it('strips the zeros of a number that is written in 32 bytes', () => {
    const rlp = new RlpBuffer();
    const payload = rlp.beginItem();
    rlp.quantity(`0x${'5'.padStart(64, '0')}`);
    rlp.endItem(payload, 2);
    expect(hex(rlp.item(0))).toBe('0x02c105');
  });

  it('grows beyond its first megabyte without losing what was there', () => {
    const rlp = new RlpBuffer();
    const long = `0x${'ab'.repeat(700_000)}`;
    for (let item = 0; item < 3; item++) {
      const payload = rlp.beginItem();
      rlp.data(long);
      rlp.endItem(payload);
    }
    const expected = hex(RLP.encode([Buffer.alloc(700_000, 0xab)]));
    for (let item = 0; item < 3; item++) expect(hex(rlp.item(item))).toBe(expected);
  });
});
