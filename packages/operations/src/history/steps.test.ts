import { DAY_MS } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { chooseSteps, HOUR_MS, MINUTE_MS, toPoints } from './steps.js';

const NOW = 500_000 * HOUR_MS + 1_234;
const choose = (ms: number) => chooseSteps(NOW - ms, NOW, NOW - 7 * DAY_MS);

it('chooses steps by the range, of at most 1,010 points', () => {
  const chosen = [HOUR_MS, DAY_MS, 7 * DAY_MS, 7 * DAY_MS + MINUTE_MS, 30 * DAY_MS, 365 * DAY_MS].map(
    (ms) => {
      const { unit, stepMs, points } = choose(ms);
      return [unit, stepMs / MINUTE_MS, points];
    },
  );
  expect(chosen).toEqual([
    ['minute', 1, 61],
    ['minute', 2, 721],
    ['minute', 10, 1_009],
    ['hour', 60, 170],
    ['hour', 60, 721],
    ['hour', 720, 731],
  ]);
  for (let ms = 1; ms < 366 * DAY_MS; ms = Math.ceil(ms * 1.3)) expect(choose(ms).points).toBeLessThan(1_012);
});

it('takes means of what is known, and leaves a gap where nothing is', () => {
  const steps = { unit: 'minute', stepMs: 2 * MINUTE_MS, startMs: 0, points: 4 } as const;
  const samples = new Map([
    [0, [1, null]],
    [1, [3, 5]],
    [4, [7, null]],
    [99, [1, 1]],
  ]);
  const sampled = new Set([0, 1, 4, 5]);
  const given = { steps, samples, sampled, width: 2 };
  expect(toPoints({ ...given, sparse: false })).toEqual([
    [2, null, 7, null],
    [5, null, null, null],
  ]);
  // In minute 5 it did nothing; in minutes 2, 3, 6 and 7 nobody sampled.
  expect(toPoints({ ...given, sparse: true })).toEqual([
    [2, null, 3.5, null],
    [5, null, 0, null],
  ]);
});
