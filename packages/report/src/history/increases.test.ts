import { expect, it } from 'vitest';
import { createIncreases } from './increases.js';

function at() {
  const clock = { ms: 0, elapsed: () => clock.ms };
  return { clock, increases: createIncreases(clock) };
}
const counter = (name: string, part: string, ...counts: number[]) => ({ name, part, counts });

it('knows no rate at first, then what each name added per second, over all its parts', () => {
  const { clock, increases } = at();
  expect(increases([counter('a', 'monday', 10, 1)])).toBeNull();
  clock.ms = 60_000;
  const rates = increases([
    counter('a', 'monday', 70, 1),
    counter('a', 'tuesday', 60, 6),
    counter('b', '', 6),
  ]);
  expect(rates).toEqual(
    new Map([
      ['a', [2, 0.1]],
      ['b', [0.1]],
    ]),
  );
  clock.ms = 90_000;
  expect(increases([counter('a', 'tuesday', 60, 6)])).toEqual(new Map([['a', [0, 0]]]));
});

it('knows no rate of a counter that went back, and goes on from there', () => {
  const { clock, increases } = at();
  increases([counter('a', 'one', 100), counter('a', 'two', 5), counter('b', '', 1)]);
  clock.ms = 1_000;
  const reset = increases([counter('a', 'one', 3), counter('a', 'two', 50), counter('b', '', 2)]);
  expect(reset).toEqual(
    new Map([
      ['a', null],
      ['b', [1]],
    ]),
  );
  clock.ms = 2_000;
  expect(increases([counter('a', 'one', 4), counter('a', 'two', 50)])?.get('a')).toEqual([1]);
});

it('tells nothing of a time in which it was not asked, and forgets no counter that is late for a while', () => {
  const { clock, increases } = at();
  increases([counter('a', 'process', 100)]);
  clock.ms = 60_000;
  increases([]);
  clock.ms = 120_000;
  expect(increases([counter('a', 'process', 160)])?.get('a')).toEqual([1]);
  clock.ms = 400_000;
  expect(increases([counter('a', 'process', 9_000)])).toBeNull();
  clock.ms = 460_000;
  expect(increases([counter('a', 'process', 9_060)])?.get('a')).toEqual([1]);
});
