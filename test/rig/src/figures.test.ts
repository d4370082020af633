import { expect, it } from 'vitest';
import { atShare, median, toTable } from './figures.js';

it('the median is the middle, or the mean of the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow('the median of nothing');
});

it('a share of sorted numbers is one of them', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => at + 1);
  expect([0, 0.5, 0.99, 1].map((share) => atShare(hundred, share))).toEqual([1, 51, 100, 100]);
  expect(atShare([], 0.5)).toBe(0);
});

it('columns of a table are as wide as their widest cell', () => {
  expect(
    toTable([
      ['NAME', 'N'],
      ['longer', '1'],
      ['a', ''],
    ]),
  ).toBe('NAME    N\nlonger  1\na');
});
