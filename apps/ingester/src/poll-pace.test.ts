import { expect, test } from 'vitest';
import { createPollPace } from './poll-pace.js';

/** Polls a chain until `untilMs`; `getHead` returns its newest block at a time. */
function poll(untilMs: number, getHead: (now: number) => number, followed = true) {
  let now = 0;
  const pace = createPollPace({ elapsed: () => now }, { pollIntervalMs: 500 });
  const calls: { at: number; calls: number }[] = [];
  const lags: { block: number; at: number }[] = [];
  let last = -1;
  for (; now < untilMs; now += pace.getPause()) {
    calls.push({ at: now, calls: pace.asksFinalized() ? 2 : 1 });
    const number = getHead(now);
    if (number !== last) lags.push({ block: number, at: now });
    last = number;
    pace.note({ number, hash: String(number), followed, failed: false });
  }
  const perMinute = (from: number): number =>
    calls.filter(({ at }) => at >= from && at < from + 60_000).reduce((sum, one) => sum + one.calls, 0);
  return { lags, perMinute };
}

test('a chain of blocks every 12 s costs a third of the calls, and no block is seen later', () => {
  const { lags, perMinute } = poll(600_000, (now) => Math.floor(now / 12_000));
  expect(perMinute(300_000)).toBeLessThan(80);
  for (const { block, at } of lags) expect(at - block * 12_000).toBeLessThanOrEqual(600);
});

test('a chain of a block each second is polled as often as before', () => {
  const { lags, perMinute } = poll(120_000, (now) => Math.floor(now / 1_000));
  expect(perMinute(60_000)).toBeGreaterThanOrEqual(120);
  for (const { block, at } of lags) expect(at - block * 1_000).toBeLessThanOrEqual(500);
});

test('a chain that stands still is polled rarely, and its next block is seen within 3 s', () => {
  const { lags, perMinute } = poll(700_000, (now) => Number(now > 600_100));
  expect(perMinute(300_000)).toBeLessThanOrEqual(30);
  expect((lags[1]?.at ?? Number.NaN) - 600_100).toBeLessThanOrEqual(3_000);
});

test('a network without requests costs at most 30 calls a minute', () => {
  expect(poll(600_000, (now) => Math.floor(now / 12_000), false).perMinute(300_000)).toBeLessThanOrEqual(30);
});
