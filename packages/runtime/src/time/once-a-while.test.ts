import { expect, it } from 'vitest';
import { createOnceAWhile } from './clock.js';

it('says the same words once in the time, and tells how often they were kept back', () => {
  let now = 0;
  const onceAWhile = createOnceAWhile(60_000, () => now);
  expect(onceAWhile('block 17 failed')).toEqual({ say: true, hidden: 0 });
  expect(onceAWhile('block 18 failed')).toEqual({ say: false, hidden: 1 });
  expect(onceAWhile(`block 19 failed`)).toEqual({ say: false, hidden: 2 });
  expect(onceAWhile('the node is gone')).toEqual({ say: true, hidden: 0 });
  now = 60_000;
  expect(onceAWhile('block 20 failed')).toEqual({ say: true, hidden: 2 });
  now = 120_000;
  expect(onceAWhile('block 21 failed')).toEqual({ say: true, hidden: 0 });
});

it('words that differ in hashes only are the same', () => {
  const onceAWhile = createOnceAWhile(1_000, () => 0);
  const words = (hash: string): string => `expected 0x${hash}, sha256 ${hash}`;
  expect(onceAWhile(words('ab'.repeat(32))).say).toBe(true);
  expect(onceAWhile(words('cd'.repeat(32))).say).toBe(false);
});

it('remembers a thousand different words and no more', () => {
  const onceAWhile = createOnceAWhile(1_000, () => 0);
  const word = (n: number): string => [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  for (let n = 0; n < 1_001; n++) onceAWhile(word(n));
  expect(onceAWhile(word(1_000)).say).toBe(false);
  expect(onceAWhile(word(0)).say).toBe(true);
});
