import { describe, expect, it } from 'vitest';
import { blockNumber } from '../routes/common/keyed-route.js';
import { Problem } from './problem.js';

describe('a block number in a path', () => {
  it.each([
    ['0', 0],
    ['17686110', 17_686_110],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('is read where it is a decimal integer: %s', (text, number) => {
    expect(blockNumber(text)).toBe(number);
  });

  it.each([
    '-1',
    '+1',
    '0x10',
    'latest',
    '',
    ' 1',
    '1 ',
    '1.0',
    '1e3',
    '007',
    '9007199254740992',
    '9'.repeat(300),
    '١',
  ])('is refused otherwise: %s', (text) => {
    expect(() => blockNumber(text)).toThrow(Problem);
  });
});
