import { expect, test } from 'vitest';
import { toSeries } from './usage-series.js';

test('the most used are told apart, the rest is one sum, and days without use are zero', () => {
  const rows = [
    { day: 10, name: 'a', units: 1 },
    { day: 10, name: 'b', units: 9 },
    { day: 12, name: 'c', units: 5 },
    { day: 12, name: 'd', units: 7 },
    { day: 12, name: 'e', units: 2 },
  ];
  expect(toSeries(rows, 10, 12)).toEqual({
    days: ['1970-01-11', '1970-01-12', '1970-01-13'],
    series: [
      { name: 'b', units: [9, 0, 0] },
      { name: 'd', units: [0, 0, 7] },
      { name: 'c', units: [0, 0, 5] },
      { name: null, units: [1, 0, 2] },
    ],
  });
  expect(toSeries(rows.slice(0, 2), 10, 10).series).toEqual([
    { name: 'b', units: [9] },
    { name: 'a', units: [1] },
  ]);
  expect(toSeries([], 10, 10)).toEqual({ days: ['1970-01-11'], series: [] });
});
