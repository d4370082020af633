import { createLogger, createMetrics } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDeliveries } from './deliveries.js';
import type { FilterState, FilterStore } from './filter-state.js';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const done: FilterState = { type: 'pending', sequence: 9 };
const state: FilterState = { ...done, undelivered: { from: 4, removed: [], until: 0 } };
const id = Buffer.alloc(16, 1);

/** Follows a delivery of version 7; `answers` are those of the store, in order, and then versions that count on. */
function setUp(answers: (number | null | Error)[] = []) {
  const written: { version: number; until: number | undefined }[] = [];
  const update: FilterStore['update'] = async ({ version, state }) => {
    written.push({ version, until: (JSON.parse(state) as FilterState).undelivered?.until });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer === undefined ? version + 1 : answer;
  };
  const deliveries = createDeliveries({
    filters: { update } as FilterStore,
    context: {
      logger: createLogger({ name: 'test', level: 'silent' }),
      metrics: createMetrics(),
      clock: { now: () => Date.now(), sleep: () => new Promise(() => undefined) } as never,
      signal: new AbortController().signal,
    },
  });
  let end: (sent: boolean) => void = () => undefined;
  const whenSent = (then: (sent: boolean) => void): void => {
    end = then;
  };
  const stored = deliveries.lease(state);
  deliveries.track({ id, version: 7, state: stored, done, whenSent });
  return { deliveries, written, stored, whenSent, end: (sent: boolean) => end(sent) };
}

it('an answer that takes long to send stays with its gateway', async () => {
  const { deliveries, written, stored, end } = setUp();
  expect(deliveries.isLeased(stored)).toBe(true);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(written).toEqual([
    { version: 7, until: 1_013_000 },
    { version: 8, until: 1_016_000 },
  ]);
  end(true);
  await deliveries.close();
  expect(written[2]).toEqual({ version: 9, until: undefined });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(written).toHaveLength(3);
});

it('one that was not sent is free at once', async () => {
  const { deliveries, written, end } = setUp();
  end(false);
  await deliveries.close();
  expect(written).toEqual([{ version: 7, until: 0 }]);
  expect(deliveries.isLeased(deliveries.lease(done))).toBe(false);
});

it('one that another gateway took over is left to it', async () => {
  const { deliveries, written, end } = setUp([null]);
  await vi.advanceTimersByTimeAsync(9_500);
  end(true);
  await deliveries.close();
  expect(written).toHaveLength(1);
});

it('goes on while the store is away', async () => {
  const { deliveries, written, end } = setUp([new Error('away')]);
  await vi.advanceTimersByTimeAsync(3_000);
  end(true);
  await deliveries.close();
  expect(written.map(({ version }) => version)).toEqual([7, 7]);
});

it('of the same response is not waited for', async () => {
  const { deliveries, whenSent, end } = setUp();
  expect(await deliveries.wait(id, whenSent)).toBe(false);
  const waited = deliveries.wait(id, undefined);
  end(true);
  expect(await waited).toBe(true);
});
