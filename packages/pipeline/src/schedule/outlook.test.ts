import { expect, test } from 'vitest';
import { deadlineOutlook, forecastEnd, openTime } from './outlook.js';
import { createOpeningHours } from './time-window.js';

const hours = createOpeningHours();
const HOUR = 3_600_000;
// A Sunday.
const now = Date.parse('2026-11-22T12:00Z');
const nights = ['22:00-06:00'];

test('open time is what is within windows', () => {
  expect(openTime(hours, [], now, now + 5 * HOUR)).toBe(5 * HOUR);
  expect(openTime(hours, nights, now, now + 11 * HOUR)).toBe(HOUR);
  expect(openTime(hours, nights, now, now + 48 * HOUR)).toBe(16 * HOUR);
  expect(openTime(hours, nights, now, now + 7_300 * 24 * HOUR)).toBe(7_300 * 8 * HOUR);
  expect(openTime(hours, nights, now, now - 1)).toBe(0);
});

test.each([
  [[], 3_600, 1, '2026-11-22T13:00'],
  [nights, 3_600, 1, '2026-11-22T23:00'],
  [nights, 10 * 3_600, 1, '2026-11-24T00:00'],
  [['Sat'], 25 * 3_600, 1, '2026-12-05T01:00'],
  [nights, 3_600 * 8 * 365 * 100, 1, '2126-10-29T06:00'],
  [nights, 0, null, '2026-11-22T12:00'],
])('in windows %j, %d blocks at %s a second end at %s', (windows, blocks, rate, end) => {
  const forecast = forecastEnd({ hours, windows, blocks, rate }, now);
  expect(forecast?.toISOString().slice(0, 16)).toBe(end);
});

test('there is no forecast without a rate, nor where no window opens, nor beyond a century', () => {
  expect(forecastEnd({ hours, windows: [], blocks: 1, rate: null }, now)).toBeNull();
  expect(forecastEnd({ hours, windows: ['unreadable'], blocks: 1, rate: 1 }, now)).toBeNull();
  expect(forecastEnd({ hours, windows: nights, blocks: 1e15, rate: 0.001 }, now)).toBeNull();
});

test.each([
  ['2026-11-23T12:00', 1, { standing: 'kept', takes: 1 }],
  ['2026-11-23T12:00', 0.9, { standing: 'late', takes: 1 }],
  ['2026-11-23T12:00', null, { standing: 'unknown', takes: 1 }],
  ['2026-11-22T22:00', 99, { standing: 'closed', takes: null }],
  ['2026-11-22T11:00', 99, { standing: 'missed', takes: null }],
])('28,800 blocks at night by %s at %s a second: %j', (deadline, rate, expected) => {
  const work = { hours, windows: nights, blocks: 28_800, rate };
  expect(deadlineOutlook(work, new Date(`${deadline}Z`), now)).toMatchObject(expected);
  expect(deadlineOutlook({ ...work, blocks: 0 }, new Date(`${deadline}Z`), now).standing).toBe('kept');
});
