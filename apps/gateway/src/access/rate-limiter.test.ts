import type { KeyRow, Plan } from '@packhouse/database';
import { describe, expect, it } from 'vitest';
import type { RateVerdict } from './quotas.js';
import { createQuotas } from './quotas.js';
import { createRateLimiter } from './rate-limiter.js';
import { createLocalSeconds } from './seconds.js';

const plan: Plan = {
  name: 'free',
  maxBlock: null,
  requestsPerSecond: 3,
  requestsPerDay: 5,
  requestsPerMonth: null,
  methodsPerSecond: {},
  maxLogRange: null,
};
const key = (id: number, over: Partial<Plan> = {}) => ({ id, plan: { ...plan, ...over } }) as KeyRow;
const NOON = 1_700_000_000_000 - (1_700_000_000_000 % 86_400_000) + 43_200_000;

function setup() {
  const time = { now: NOON };
  const clock = { now: () => time.now, elapsed: () => time.now };
  const limiter = createRateLimiter(createLocalSeconds(clock), createQuotas(clock));
  const calls = (names: string[]) => names.map((name) => ({ name, cost: 1 }));
  return {
    limiter,
    time,
    take: (row: KeyRow, ...names: string[]) =>
      limiter.take(row, calls(names.length === 0 ? ['eth_call'] : names)) as RateVerdict,
    look: (row: KeyRow) => limiter.take(row, calls(['usage']), false) as RateVerdict,
    left: (row: KeyRow) => limiter.peek(row) as RateVerdict,
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

  it('holds single methods to their calls a second, and refuses a batch whole', () => {
    const { time, take } = setup();
    const row = key(1, {
      requestsPerSecond: 1_000,
      requestsPerDay: 100,
      methodsPerSecond: { eth_getLogs: 2, eth_call: 1 },
    });
    expect(take(row, 'eth_getLogs').allowed).toBe(true);
    expect(take(row, 'pointer', 'eth_getLogs', 'eth_call').allowed).toBe(true);
    expect(take(row, 'pointer')).toMatchObject({ allowed: true, remaining: 95 });
    expect(take(row, 'eth_getLogs')).toMatchObject({ allowed: false, window: 'second', limit: 2 });
    expect(take(row, 'pointer', 'eth_call')).toMatchObject({ allowed: false, method: 'eth_call' });
    expect(take(row, 'pointer')).toMatchObject({ allowed: true, window: 'day', remaining: 94 });
    expect(take(key(2, row.plan), 'eth_getLogs').allowed).toBe(true);
    time.now += 1_000;
    expect(take(row, 'eth_getLogs', 'eth_getLogs', 'eth_getLogs').allowed).toBe(true);
    expect(take(row, 'eth_getLogs').allowed).toBe(false);
  });

  it('lets what is outside of the quota through when the quota is used up, within the second', () => {
    const { take, look } = setup();
    const row = key(1, { requestsPerSecond: 8 });
    for (let n = 0; n < 5; n++) take(row);
    expect(take(row)).toMatchObject({ allowed: false, window: 'day' });
    expect(look(row)).toMatchObject({ allowed: true, window: 'day', remaining: 0 });
    expect(look(row)).toMatchObject({ allowed: true });
    expect(look(row)).toMatchObject({ allowed: false, window: 'second' });
  });

  it('charges a request above the limit whole, and refuses the next ones until that is paid', () => {
    const { time, take, left } = setup();
    const row = key(1, { requestsPerDay: null });
    const batch = Array.from({ length: 10 }, () => 'eth_call');
    time.now += 500;
    expect(take(row, ...batch)).toMatchObject({ allowed: true, remaining: 0, resetMs: 3_000 });
    const allowed: boolean[] = [];
    // Ten calls at three a second: 3, 3 and 3 are paid, and of the fourth second one.
    for (let second = 0; second < 5; second++) {
      allowed.push(take(row).allowed);
      time.now += 1_000;
    }
    expect(allowed).toEqual([false, false, false, true, true]);
    expect(take(key(2)).allowed).toBe(true);
    expect(left(row)).toMatchObject({ remaining: 3 });
  });

  it('tells a refused request when there is room for it, and counts it to the end of its second only', () => {
    const { time, take } = setup();
    const row = key(1, { requestsPerDay: null });
    take(row, ...Array.from({ length: 7 }, () => 'eth_call'));
    expect(take(row)).toMatchObject({ allowed: false, resetMs: 2_000 });
    expect(take(row, 'a', 'b', 'c')).toMatchObject({ allowed: false, resetMs: 3_000 });
    expect(take(row, 'a', 'b', 'c', 'd')).toMatchObject({ allowed: false, resetMs: 3_000 });
    time.now += 2_000;
    expect(take(row, 'a')).toMatchObject({ allowed: true, remaining: 1 });
    expect(take(row, 'a', 'b')).toMatchObject({ allowed: false, remaining: 0, resetMs: 1_000 });
    time.now += 1_000;
    expect(take(row, 'a', 'b', 'c', 'd')).toMatchObject({ allowed: true });
  });

  it('remembers debts over midnight', () => {
    const { time, take } = setup();
    const row = key(1, { requestsPerDay: null });
    time.now += 43_199_000;
    take(row, ...Array.from({ length: 60 }, () => 'eth_call'));
    for (let second = 0; second < 19; second++) {
      time.now += 1_000;
      expect(take(row).allowed).toBe(false);
      // Another key's windows are swept meanwhile.
      take(key(100 + second));
    }
    time.now += 1_000;
    expect(take(row).allowed).toBe(true);
  });

  it('counts what was paid for a body once, and lets its calls in as if it was not', () => {
    const { limiter, time } = setup();
    const row = key(1, { requestsPerDay: null });
    const calls = Array.from({ length: 9 }, () => ({ name: 'eth_call', cost: 1 }));
    expect(limiter.takeBody(row, 2, 0)).toMatchObject({ allowed: true, remaining: 1 });
    expect(limiter.takeBody(row, 5, 2)).toMatchObject({ allowed: true });
    expect(limiter.take(row, calls, true, 7)).toMatchObject({ allowed: true, resetMs: 3_000 });
    expect(limiter.takeBody(row, 2, 0)).toMatchObject({ allowed: false });
    time.now += 3_000;
    // A body that costs more than its calls.
    expect(limiter.takeBody(row, 4, 0)).toMatchObject({ allowed: true });
    expect(limiter.take(row, calls.slice(0, 1), true, 4)).toMatchObject({ allowed: true });
    expect(limiter.peek(row)).toMatchObject({ remaining: 0, resetMs: 1_000 });
  });
});
