import { expect, it } from 'vitest';
import { giveBack, takeBytes } from './spare-bytes.js';

it('hands out memory again that was given back, where it is large enough, and never twice', () => {
  const first = takeBytes(300_000);
  expect(first.length).toBe(300_000);
  expect(takeBytes(300_000).buffer).not.toBe(first.buffer);
  giveBack(first);
  const larger = takeBytes(600_000);
  expect(larger.buffer).not.toBe(first.buffer);
  const again = takeBytes(400_000);
  expect(again.buffer).toBe(first.buffer);
  expect(again.length).toBe(400_000);
  expect(takeBytes(1).buffer).not.toBe(first.buffer);
});

it('keeps the three largest that are not too large', () => {
  const all = [262_144, 5_000_000, 524_288, 786_432, 1_048_576].map((bytes) => takeBytes(bytes));
  for (const one of all) giveBack(one);
  const buffers = all.map(({ buffer }) => buffer);
  const taken = [1, 1, 1, 1].map((bytes) => buffers.indexOf(takeBytes(bytes).buffer));
  expect(taken.sort()).toEqual([-1, 2, 3, 4]);
});
