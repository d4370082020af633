import { expect, it } from 'vitest';
import { formatDay, parseDay, parseSince } from './days.js';

it('reads dates that there are, and writes them again', () => {
  for (const [text, day] of [
    ['1970-01-01', 0],
    ['2024-02-29', 19_782],
    ['2026-12-31', 20_818],
  ] as const) {
    expect(parseDay(text)).toBe(day);
    expect(formatDay(day)).toBe(text);
  }
  for (const text of [
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-1-1',
    'today',
    '',
    '2026-01-01T00:00Z',
  ]) {
    expect(parseDay(text), text).toBeNull();
  }
});

it('reads a number of days as those that end with the last one', () => {
  expect(parseSince('1d', 100)).toBe(100);
  expect(parseSince('7d', 100)).toBe(94);
  expect(parseSince('1970-01-03', 100)).toBe(2);
  for (const text of ['0d', '7', '-7d', '7h', '10000d']) expect(parseSince(text, 100), text).toBeNull();
});
