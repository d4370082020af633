import { RLP } from '@ethereumjs/rlp';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeRlp, type RlpItem } from './rlp.js';

const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array({ maxLength: 70 }),
    fc.uint8Array({ minLength: 250, maxLength: 300 }),
    fc.array(tie('item'), { maxLength: 6 }),
  ),
}));

test('nested lists and bytes are encoded as @ethereumjs/rlp encodes them', () => {
  fc.assert(
    fc.property(item, (value) => {
      expect(encodeRlp(value).equals(RLP.encode(value as never))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('lengths that need two and three bytes are encoded as @ethereumjs/rlp encodes them', () => {
  for (const length of [0, 1, 55, 56, 255, 256, 65_535, 65_536, 70_000]) {
    const bytes = new Uint8Array(length).fill(length === 1 ? 0x7f : 0x80);
    expect(encodeRlp([bytes, [bytes]]).equals(RLP.encode([bytes, [bytes]]))).toBe(true);
  }
});
