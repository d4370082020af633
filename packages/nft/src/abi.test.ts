import { abiString, abiUints } from '@packhouse/replay-node';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeBool, decodeString, decodeUint, decodeUints, toWord } from './abi.js';

it('reads any string back that was written', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      (text) => decodeString(abiString(text)) === text,
    ),
  );
});

it('reads any array back that was written, up to so many', () => {
  const uint256 = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
  fc.assert(
    fc.property(fc.array(uint256, { maxLength: 20 }), (values) => {
      expect(decodeUints(abiUints(values, [1n]), 0, 1_000)).toEqual(values);
      expect(decodeUints(abiUints(values, [1n]), 1, 1_000)).toEqual([1n]);
    }),
  );
  expect(decodeUints(abiUints([1n, 2n, 3n]), 0, 2)).toEqual([1n, 2n]);
});

it.each([
  ['nothing', '0x'],
  ['no offset', `0x${'0'.repeat(62)}`],
  ['an offset beyond the end', `0x${toWord(1n << 40n)}${toWord(1n)}`],
  ['an offset of 2^256 - 1', `0x${'f'.repeat(64)}${toWord(1n)}`],
  ['an offset between words', `0x${toWord(33n)}${toWord(0n)}${toWord(0n)}`],
  ['a length of 2^256 - 1', `0x${toWord(32n)}${'f'.repeat(64)}`],
  ['a length beyond the end', `0x${toWord(32n)}${toWord(33n)}${toWord(0n)}`],
  ['no hex', `0x${toWord(32n)}${toWord(1n)}zz`],
  ['no UTF-8', `0x${toWord(32n)}${toWord(2n)}fffe${'0'.repeat(60)}`],
])('is not confused by %s', (_, data) => {
  expect(decodeString(data)).toBeNull();
  expect(decodeUints(data, 0, 10)).toEqual([]);
});

it('never fails, whatever a contract answers', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const data = `0x${Buffer.from(bytes).toString('hex')}`;
      decodeString(data);
      decodeUints(data, 0, 100);
      decodeUints(data, 1, 100);
      decodeUint(data);
      decodeBool(data);
    }),
  );
});
