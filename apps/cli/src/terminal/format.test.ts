import { expect, test } from 'vitest';
import { formatBytes, formatCount, formatDuration } from './format.js';

test('counts have commas between thousands', () => {
  expect([0, 999, 1_000, 23_456_789].map(formatCount)).toEqual(['0', '999', '1,000', '23,456,789']);
});

test('bytes have decimal units and no more than three digits that matter', () => {
  expect(
    [0, 999, 1_000, 12_345, 123_456, 99_990, 999_400, 999_500, 1_000_000, 9.87e12, 1.5e16].map(formatBytes),
  ).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '12.3 kB',
    '123 kB',
    '100 kB',
    '999 kB',
    '1.0 MB',
    '1.0 MB',
    '9.9 TB',
    '15000 TB',
  ]);
});

test('durations are rounded to what a person wants to know', () => {
  expect(
    [0, 0.2, 45, 89.9, 90, 3_600, 5_399, 7_140, 7_170, 12_000, 172_799, 187_200].map(formatDuration),
  ).toEqual([
    '0 s',
    '1 s',
    '45 s',
    '2 min',
    '2 min',
    '60 min',
    '1 h 30 min',
    '1 h 59 min',
    '2 h 0 min',
    '3 h 20 min',
    '2 d 0 h',
    '2 d 4 h',
  ]);
});
