import type { KeyRow, Plan } from '@packhouse/database';
import { describe, expect, it } from 'vitest';
import { createLocalRateLimiter } from './local-rate-limiter.js';
import type { RateVerdict } from './rate-limiter.js';

const plan: Plan = { name: 'free', maxBlock: null, requestsPerSecond: 3, requestsPerDay: 5 };
const key = (id: number, over: Partial<Plan> = {}) => ({ id, plan: { ...plan, ...over } }) as KeyRow;
const NOON = 1_700_000_000_000 - (1_700_000_000_000 % 86_400_000) + 43_200_000;

function setup() {
  const time = { now: NOON };
  const limiter = createLocalRateLimiter({ now: () => time.now, sleep: async () => undefined });
  return {
    time,
    take: (row: KeyRow) => limiter.take(row) as RateVerdict,
    left: (row: KeyRow) => limiter.left(row) as RateVerdict,
  };
}

describe('the rate limiter of one gateway', () => {
  it('lets as many requests a second through as the plan includes, for each key by itself', () => {
    const { time, take } = setup();
    const row = key(1, { requestsPerDay: null });
    const verdicts = [0, 1, 2, 3].map(() => take(row));
    expect(verdicts.map((each) => each.allowed)).toEqual([true, true, true, false]);
    expect(verdicts.map((each) => each.remaining)).toEqual([2, 1, 0, 0]);
    expect(verdicts[3]).toMatchObject({ window: 'second', limit: 3, resetMs: 1_000 });
    expect(take(key(2)).allowed).toBe(true);
    time.now += 1_000;
    expect(take(row)).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('counts the day as well, and says which window is nearest to its end', () => {
    const { time, take } = setup();
    const row = key(1, { requestsPerSecond: 1_000 });
    const verdicts = [0, 1, 2, 3, 4, 5].map(() => take(row));
    expect(verdicts.map((each) => each.allowed)).toEqual([true, true, true, true, true, false]);
    expect(verdicts[5]).toMatchObject({ window: 'day', limit: 5, remaining: 0, resetMs: 43_200_000 });
    time.now += 43_200_000;
    expect(take(row).allowed).toBe(true);
  });

  it('does not count what the second refused against the day', () => {
    const { time, take } = setup();
    for (let n = 0; n < 50; n++) take(key(1));
    time.now += 1_000;
    expect(take(key(1))).toMatchObject({ allowed: true, window: 'day', remaining: 1 });
  });

  it('says what is left, and counts nothing for it', () => {
    const { time, take, left } = setup();
    expect(left(key(1))).toMatchObject({ window: 'second', limit: 3, remaining: 3, resetMs: 1_000 });
    take(key(1));
    time.now += 400;
    for (let n = 0; n < 5; n++) expect(left(key(1))).toMatchObject({ remaining: 2, resetMs: 600 });
    time.now += 600;
    for (let n = 0; n < 3; n++) take(key(1));
    expect(left(key(1))).toMatchObject({ window: 'second', remaining: 0 });
    time.now += 1_000;
    expect(left(key(1))).toMatchObject({ window: 'day', remaining: 1 });
    time.now += 86_400_000;
    expect(left(key(1))).toMatchObject({ window: 'second', remaining: 3 });
  });

  it('goes by the plan that the key has now', () => {
    const { take } = setup();
    for (let n = 0; n < 3; n++) take(key(1));
    expect(take(key(1)).allowed).toBe(false);
    expect(take(key(1, { requestsPerSecond: 50 })).allowed).toBe(true);
  });
});
