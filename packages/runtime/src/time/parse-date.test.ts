import { afterEach, expect, it, vi } from 'vitest';
import { parseDate } from './clock.js';

afterEach(() => vi.unstubAllEnvs());

it.each(['UTC', 'Pacific/Apia', 'America/St_Johns'])('reads the same date in the zone %s', (zone) => {
  vi.stubEnv('TZ', zone);
  expect(parseDate('2026-11-22')?.getTime()).toBe(Date.UTC(2026, 10, 22));
  expect(parseDate('2026-11-22T18:00Z')?.getTime()).toBe(Date.UTC(2026, 10, 22, 18));
  expect(parseDate('2026-11-22T18:00:05.5-03:30')?.getTime()).toBe(Date.UTC(2026, 10, 22, 21, 30, 5, 500));
});

it('knows the days of a month', () => {
  expect(parseDate('2028-02-29')).toEqual(new Date(Date.UTC(2028, 1, 29)));
  expect(parseDate('2027-02-29')).toBeNull();
  expect(parseDate('2027-02-29T12:00Z')).toBeNull();
  expect(parseDate('2027-13-01')).toBeNull();
});

it.each([
  '',
  'soon',
  '2026',
  '2026-1-1',
  '01/02/2026',
  '2026-11-22 18:00',
  '2026-11-22T18:00',
  '2026-11-22T25:00Z',
])('does not guess what "%s" is', (text) => {
  expect(parseDate(text)).toBeNull();
});
