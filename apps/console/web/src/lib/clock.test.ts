import { afterEach, expect, test, vi } from 'vitest';
import { getNow, learnTime } from './clock.js';
import { formatAgo } from './format.js';

const NOW = Date.parse('2026-11-26T12:00:00.300Z');

afterEach(() => void vi.useRealTimers());

test('ages are by the clock of the console, whatever that of the browser says', () => {
  vi.useFakeTimers({ now: NOW - 5 * 86_400_000 });
  learnTime('Thu, 26 Nov 2026 12:00:00 GMT');
  expect(Math.abs(getNow() - NOW)).toBeLessThan(1_000);
  expect(formatAgo('2026-11-26T11:00:00.000Z')).toBe('1 h 0 min ago');
});

test('a clock that is right within the second of the header is left alone', () => {
  vi.useFakeTimers({ now: NOW });
  learnTime('Thu, 26 Nov 2026 11:59:59 GMT');
  expect(getNow()).toBe(NOW);
});

test('an answer without a time, or with a strange one, changes nothing', () => {
  vi.useFakeTimers({ now: NOW });
  learnTime('Thu, 26 Nov 2026 18:00:00 GMT');
  const before = getNow();
  for (const date of [null, '', 'yesterday']) learnTime(date);
  expect(getNow()).toBe(before);
});
