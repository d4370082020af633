import { expect, it } from 'vitest';
import { differences } from './difference.js';

it('says only what differs, and none for what is empty', () => {
  const before = { priority: 100, windows: [], deadline: null, owner: 'a' };
  expect(differences(before, { ...before, priority: 7, windows: ['Sat', 'Sun UTC'] })).toBe(
    'priority 100 → 7, windows none → Sat or Sun UTC',
  );
  expect(differences(before, before)).toBe('');
});

it('says what a new thing is, and what a removed one was', () => {
  expect(differences(null, { role: 'admin', network: null })).toBe('role admin');
  expect(differences({ role: 'admin' }, null)).toBe('role admin');
});
