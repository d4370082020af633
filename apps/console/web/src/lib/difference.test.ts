import { expect, it } from 'vitest';
import { formatDifferences } from './difference.js';

it('says only what differs, and none for what is empty', () => {
  const before = { priority: 100, windows: [], deadline: null, owner: 'a' };
  expect(formatDifferences(before, { ...before, priority: 7, windows: ['Sat', 'Sun UTC'] })).toBe(
    'priority 100 → 7; windows none → Sat, Sun UTC',
  );
  expect(formatDifferences(before, before)).toBe('');
});

it('says what a new thing is, and what a removed one was', () => {
  expect(formatDifferences(null, { role: 'admin', network: null })).toBe('role admin');
  expect(formatDifferences({ role: 'admin' }, null)).toBe('role admin');
  expect(formatDifferences(null, { host: '', kinds: ['blocks', 'logs'], to: 7 })).toBe(
    'kinds blocks, logs; to 7',
  );
});
