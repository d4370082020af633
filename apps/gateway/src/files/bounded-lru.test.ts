import { expect, it } from 'vitest';
import { BoundedLru } from './bounded-lru.js';

it('forgets what was not used for longest as soon as the sizes pass the bound', () => {
  const lru = new BoundedLru<string>(10);
  lru.set('a', 'A', 4);
  lru.set('b', 'B', 4);
  expect(lru.get('a')).toBe('A');
  lru.set('c', 'C', 4);
  expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual(['A', undefined, 'C']);
  expect(lru.size).toBe(8);
});

it('counts a value that is replaced once, and keeps nothing that is larger than the bound', () => {
  const lru = new BoundedLru<string>(10);
  lru.set('a', 'A', 4);
  lru.set('a', 'B', 5);
  expect([lru.get('a'), lru.size]).toEqual(['B', 5]);
  lru.set('big', 'X', 11);
  expect(lru.get('big')).toBeUndefined();
  expect(lru.size).toBe(0);
});
