import type { KeyRow, Plan } from '@packhouse/database';
import { describe, expect, it } from 'vitest';
import { createRateLimiter } from './create-rate-limiter.js';

const plan: Plan = { name: 'free', maxBlock: null, requestsPerSecond: 3, requestsPerDay: 5 };
const key = (id: number, over: Partial<Plan> = {}) => ({ id, plan: { ...plan, ...over } }) as KeyRow;

describe('the rate limiter', () => {
  it('lets as many requests a second through as the plan includes, for each key by itself', async () => {
    const limiter = createRateLimiter();
    const verdicts = [];
    for (let n = 0; n < 4; n++) verdicts.push(await limiter.take(key(1, { requestsPerDay: null })));
    expect(verdicts.map((each) => each.allowed)).toEqual([true, true, true, false]);
    expect(verdicts.map((each) => each.remaining)).toEqual([2, 1, 0, 0]);
    expect(verdicts[3]).toMatchObject({ window: 'second', limit: 3 });
    expect(verdicts[3]?.resetMs).toBeLessThanOrEqual(1_000);
    expect((await limiter.take(key(2))).allowed).toBe(true);
  });

  it('counts the day as well, and says which window is nearest to its end', async () => {
    const limiter = createRateLimiter();
    const verdicts = [];
    for (let n = 0; n < 6; n++) verdicts.push(await limiter.take(key(1, { requestsPerSecond: 1_000 })));
    expect(verdicts.map((each) => each.allowed)).toEqual([true, true, true, true, true, false]);
    expect(verdicts[5]).toMatchObject({ window: 'day', limit: 5, remaining: 0 });
    expect(verdicts[5]?.resetMs).toBeGreaterThan(3_600_000);
  });

  it('goes by the plan that the key has now', async () => {
    const limiter = createRateLimiter();
    for (let n = 0; n < 4; n++) await limiter.take(key(1, { requestsPerDay: null }));
    expect((await limiter.take(key(1, { requestsPerDay: null }))).allowed).toBe(false);
    expect((await limiter.take(key(1, { requestsPerDay: null, requestsPerSecond: 50 }))).allowed).toBe(true);
  });
});
