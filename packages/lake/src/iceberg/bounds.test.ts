import { expect, it } from 'vitest';
import { encodeBound } from './bounds.js';

it('encodes bounds as the specification has them', () => {
  const hex = (type: Parameters<typeof encodeBound>[0], value: string): string =>
    encodeBound(type, value).toString('hex');
  expect(hex('int', '-2')).toBe('feffffff');
  expect(hex('long', '34')).toBe('2200000000000000');
  expect(hex('timestamp', '-1')).toBe('ffffffffffffffff');
  // Two's complement, big-endian, as short as it can be: 1420 is 0x058c.
  expect(hex('decimal(38, 0)', '1420')).toBe('058c');
  expect(['0', '127', '128', '-1', '-128', '-129'].map((value) => hex('decimal(38, 0)', value))).toEqual([
    '00',
    '7f',
    '0080',
    'ff',
    '80',
    'ff7f',
  ]);
  expect(hex('decimal(38, 0)', `${10n ** 38n - 1n}`)).toHaveLength(32);
});
