import { systemClock } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import type { SharedTips } from './shared-tips.js';
import { createSharedEpoch } from './shared-tips.js';

/** A store that can be away, and lose what it has. */
function epochStore() {
  const state = { epoch: 0, away: false };
  const use = (): void => {
    if (state.away) throw new Error('away');
  };
  const shared: SharedTips = {
    raise: async () => 0,
    read: async () => ({}),
    readEpoch: async () => {
      use();
      return state.epoch;
    },
    raiseEpoch: async (_, atLeast) => {
      use();
      state.epoch = Math.max(state.epoch + 1, atLeast);
      return state.epoch;
    },
  };
  return { state, shared };
}

/** The epochs of so many gateways on a store; they are read only when a test says so. */
function epochs(shared: SharedTips | undefined, count: number) {
  const signal = AbortSignal.abort();
  return Array.from({ length: count }, () =>
    createSharedEpoch({ clock: systemClock, network: 'main 1', shared, signal }),
  ) as [ReturnType<typeof createSharedEpoch>, ReturnType<typeof createSharedEpoch>];
}

it('raised by one gateway it counts there at once, and at the others as soon as they read it', async () => {
  const [one, two] = epochs(epochStore().shared, 2);
  one.raise();
  expect([one.current(), two.current()]).toEqual([1, 0]);
  await two.refresh();
  expect(two.current()).toBe(1);
  // One that does not know of it yet does not raise it to the same number.
  two.raise();
  one.raise();
  await Promise.all([one.refresh(), two.refresh()]);
  expect([one.current(), two.current()]).toEqual([3, 3]);
});

it('raised while the store is away, or lost by it, it is written later', async () => {
  const { shared, state } = epochStore();
  const [one, two] = epochs(shared, 2);
  state.away = true;
  one.raise();
  await one.refresh();
  expect(one.current()).toBe(1);
  state.away = false;
  await one.refresh();
  await two.refresh();
  expect(two.current()).toBe(state.epoch);
  state.epoch = 0;
  await two.refresh();
  expect(state.epoch).toBe(two.current());
});

it('is that of the process where there is no store', () => {
  const [one, two] = epochs(undefined, 2);
  one.raise();
  expect([one.current(), two.current()]).toEqual([1, 0]);
  expect(one.refresh()).toBeUndefined();
});
