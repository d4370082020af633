import type { KeyRow, Plan } from '@packhouse/database';
import { type Clock, systemClock } from '@packhouse/runtime';
import { beforeEach, expect, it } from 'vitest';
import { createPatientReads } from './patient-reads.js';
import { createQuotas } from './quotas.js';
import { createRateLimiter } from './rate-limiter.js';
import { createLocalSeconds } from './seconds.js';

const MEBIBYTE = 1_048_576;
const PER_SECOND = 25;
const plan: Plan = {
  name: 'free',
  maxBlock: null,
  requestsPerSecond: PER_SECOND,
  requestsPerDay: null,
  requestsPerMonth: null,
  methodsPerSecond: {},
  maxLogRange: null,
};
const row = { id: 1, plan } as KeyRow;

let now: number;
let sleepers: { until: number; wake: () => void }[];
let take: (bytes?: number) => Promise<{ allowed: boolean; cost: number }>;
beforeEach(() => {
  now = 1_000_000;
  sleepers = [];
  const sleep = (ms: number): Promise<void> =>
    new Promise((wake) => sleepers.push({ until: now + ms, wake }));
  const clock: Clock = { ...systemClock, elapsed: () => now, sleep };
  const reads = createPatientReads({
    clock,
    rateLimiter: createRateLimiter(createLocalSeconds(clock), createQuotas(clock)),
  });
  take = async (bytes) => {
    const { rate, calls } = await reads.take(row, 'lake-file', bytes);
    return { allowed: rate.allowed, cost: rate.allowed ? (calls[0]?.cost ?? 0) : 0 };
  };
});

/** All that is asked at once, while time passes only where everybody waits. */
async function settle<T>(all: readonly Promise<T>[]): Promise<T[]> {
  let done = false;
  const results = Promise.all(all).finally(() => {
    done = true;
  });
  results.catch(() => undefined);
  for (;;) {
    await new Promise(setImmediate);
    if (done) return results;
    now = Math.min(...sleepers.map(({ until }) => until));
    for (const { until, wake } of sleepers) if (until <= now) wake();
    sleepers = sleepers.filter(({ until }) => until > now);
  }
}

const units = (taken: readonly { cost: number }[]): number => taken.reduce((sum, { cost }) => sum + cost, 0);
const times = (count: number, bytes?: number): Promise<{ allowed: boolean; cost: number }>[] =>
  Array.from({ length: count }, () => take(bytes));

it('counts a unit for a mebibyte of ranges, or for sixteen short ones, and never more than one for a request', async () => {
  const counted = async (count: number, bytes?: number): Promise<number> => {
    let sum = 0;
    for (let at = 0; at < count; at += 1) sum += units(await settle([take(bytes)]));
    return sum;
  };
  expect(await counted(160, 100)).toBe(10);
  expect(await counted(64, MEBIBYTE / 4)).toBe(16);
  expect(await counted(4, 100 * MEBIBYTE)).toBe(4);
  expect(await counted(4)).toBe(4);
});

it('lets a query wait for its second, and refuses what would wait for longer than engines do', async () => {
  const began = now;
  expect((await settle(times(68))).every(({ allowed }) => allowed)).toBe(true);
  expect(now - began).toBe(2_000);
  now += 60_000;
  const many = await settle(times(200));
  expect(many.filter(({ allowed }) => allowed)).toHaveLength(3 * PER_SECOND);
  expect(units(many)).toBe(3 * PER_SECOND);
});

it('lets nobody read more than was paid for, however many ask at once and are refused', async () => {
  let read = 0;
  let spent = 0;
  for (let burst = 0; burst < 40; burst += 1) {
    const bytes = [100, 70_000, MEBIBYTE / 3, MEBIBYTE][burst % 4] as number;
    const taken = await settle(times(1 + ((burst * 53) % 240), bytes));
    read += taken.filter(({ allowed }) => allowed).length * Math.max(bytes, MEBIBYTE / 16);
    spent += units(taken);
    expect(read).toBeLessThanOrEqual(spent * MEBIBYTE);
    now += 300;
  }
  expect(read).toBeGreaterThan(spent * MEBIBYTE * 0.9);
});

it('holds no more requests of a key than an engine has', async () => {
  const all = await settle(times(400).map((each) => each.catch((error: Error) => error.message)));
  const refused = all.filter((each) => typeof each === 'string');
  expect(refused).toHaveLength(400 - PER_SECOND - 256);
  expect(refused[0]).toContain('256 requests for tables that wait in flight');
});
