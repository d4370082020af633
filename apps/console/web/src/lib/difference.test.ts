import { expect, it } from 'vitest';
import { formatDifferences } from './difference.js';

it('says only what differs, and none for what is empty', () => {
  const before = { priority: 100, windows: [], deadline: null, owner: 'a' };
  expect(formatDifferences(before, { ...before, priority: 7, windows: ['Sat', 'Sun UTC'] })).toBe(
    'priority 100 → 7; windows none → Sat, Sun UTC',
  );
  expect(formatDifferences(before, before)).toBe('');
});

it('says the two ends of a range as one, and names as words', () => {
  expect(formatDifferences(null, { to: 500, priority: 100, from: 0 })).toBe('blocks 0-500; priority 100');
  expect(formatDifferences(null, { from: 12_000, to: null, maxRequests: 7 })).toBe(
    'blocks 12,000 on; max requests 7',
  );
  expect(formatDifferences({ from: 0, to: 9 }, { from: 0, to: 19 })).toBe('blocks 0-9 → 0-19');
});

it('says what a new thing is, and what a removed one was', () => {
  expect(formatDifferences(null, { role: 'admin', network: null })).toBe('role admin');
  expect(formatDifferences({ role: 'admin' }, null)).toBe('role admin');
  expect(formatDifferences(null, { host: '', kinds: ['blocks', 'logs'], to: 7 })).toBe(
    'to 7; kinds blocks, logs',
  );
});
