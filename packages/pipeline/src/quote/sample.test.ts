import { expect, test } from 'vitest';
import { choosePlaces } from './sample.js';

const pieces = [
  { firstBlock: 100, lastBlock: 199, kinds: ['logs'] as const },
  { firstBlock: 1_000, lastBlock: 1_899, kinds: ['receipts', 'logs'] as const },
];

test('one block of every stratum is chosen, the same every time', () => {
  const picks = choosePlaces(pieces, 20, 'main/100/1899');
  expect(picks).toHaveLength(20);
  // 1,000 blocks in 20 strata of 50: the first two strata are the first piece.
  const place = (number: number): number => (number < 200 ? number - 100 : number - 900);
  expect(picks.map(({ number }) => Math.floor(place(number) / 50))).toEqual([...Array(20).keys()]);
  expect(picks.map(({ kinds }) => kinds.length)).toEqual([1, 1, ...Array(18).fill(2)]);
  expect(choosePlaces(pieces, 20, 'main/100/1899')).toEqual(picks);
  expect(choosePlaces(pieces, 20, 'main/100/1900')).not.toEqual(picks);
});

test('the places within strata have no period', () => {
  const picks = choosePlaces([{ firstBlock: 0, lastBlock: 99_999, kinds: ['logs'] }], 100, 'x');
  expect(new Set(picks.map(({ number }) => number % 12)).size).toBe(12);
});

test('all blocks are chosen if there are no more', () => {
  const few = [{ firstBlock: 7, lastBlock: 9, kinds: ['logs'] as const }];
  expect(choosePlaces(few, 20, 'x').map(({ number }) => number)).toEqual([7, 8, 9]);
});
