import { expect, it } from 'vitest';
import { createBodyMemory } from './body.js';

it('has room for its bytes and no more, and for what was freed again', () => {
  const memory = createBodyMemory(400);
  for (const owner of [1, 2, 3, 4]) expect(memory.reserve(owner, 100, 0)).toBe(true);
  expect(memory.reserve(5, 1, 0)).toBe(false);
  memory.release(4, 100);
  expect(memory.bytes).toBe(300);
  expect(memory.reserve(5, 100, 0)).toBe(true);
  for (const owner of [1, 2, 3, 5]) memory.release(owner, 100);
  expect(memory.bytes).toBe(0);
});

it('gives one owner a quarter, so that others find room', () => {
  const memory = createBodyMemory(400);
  expect(memory.reserve('192.0.2.1', 60, 0)).toBe(true);
  expect(memory.reserve('192.0.2.1', 41, 0)).toBe(false);
  expect(memory.reserve('192.0.2.1', 40, 0)).toBe(true);
  expect(memory.reserve('192.0.2.1', 1, 0)).toBe(false);
  expect(memory.reserve('192.0.2.2', 100, 0)).toBe(true);
});

it('lets a body grow by steps, and any one that is alone', () => {
  const memory = createBodyMemory(400);
  expect(memory.reserve(1, 300, 0)).toBe(true);
  expect(memory.reserve(1, 300, 300)).toBe(true);
  expect(memory.reserve(1, 1, 0)).toBe(false);
  expect(memory.reserve(2, 1, 0)).toBe(false);
  memory.release(1, 600);
  expect(memory.reserve(2, 90, 0)).toBe(true);
  expect(memory.reserve(1, 90, 0)).toBe(true);
  // Beside another body of its own it has its share.
  expect(memory.reserve(1, 10, 0)).toBe(true);
  expect(memory.reserve(1, 10, 10)).toBe(false);
});
