import { expect, it } from 'vitest';
import { createTtlCache } from './ttl-cache.js';

function memory(maxEntries = 10) {
  let now = 0;
  let made = 0;
  const remember = createTtlCache({ elapsed: () => now }, 1_000, maxEntries);
  return {
    ask: (name: string) =>
      remember(name, async () => {
        made += 1;
        return made;
      }),
    remember,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

it('gives the same answer for a second, and asks anew afterwards', async () => {
  const { ask, pass } = memory();
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual([1, 1, 2]);
  pass(999);
  expect(await ask('a')).toBe(1);
  pass(1);
  expect(await ask('a')).toBe(3);
});

it('holds as many answers as it may, and no failure', async () => {
  const { ask, remember } = memory(2);
  expect([await ask('a'), await ask('b'), await ask('c')]).toEqual([1, 2, 3]);
  expect([await ask('c'), await ask('a')]).toEqual([3, 4]);
  await expect(remember('d', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await ask('d')).toBe(5);
});
