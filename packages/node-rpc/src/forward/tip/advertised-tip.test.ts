import { expect, it } from 'vitest';
import { createAdvertisedTip } from './advertised-tip.js';
import type { SharedTips } from './shared-tips.js';

type Tag = Parameters<SharedTips['raise']>[1];

/** A store in memory on a clock that is set by hand. */
function store() {
  const clock = { ms: 0, elapsed: () => clock.ms, sleep: async () => undefined };
  const numbers = new Map<Tag, { number: number; until: number }>();
  const state = { away: false, reads: 0, writes: 0 };
  const alive = (tag: Tag): number | undefined => {
    const found = numbers.get(tag);
    return found !== undefined && found.until > clock.ms ? found.number : undefined;
  };
  const tips: SharedTips = {
    async raise(_, tag, number, holdMs) {
      if (state.away) throw new Error('away');
      state.writes += 1;
      const before = alive(tag) ?? -1;
      if (number >= before) numbers.set(tag, { number, until: clock.ms + holdMs });
      return Math.max(number, before);
    },
    async read() {
      if (state.away) throw new Error('away');
      state.reads += 1;
      return Object.fromEntries(
        [...numbers.keys()].flatMap((tag) => (alive(tag) === undefined ? [] : [[tag, alive(tag)]])),
      );
    },
  };
  const alone: unknown[] = [];
  const gateway = () =>
    createAdvertisedTip({
      clock,
      network: 'main 1',
      shared: tips,
      onStoreAway: (error) => alone.push(error),
    });
  return { alone, clock, gateway, numbers, state };
}

it('knows what another gateway told as soon as it asks', async () => {
  const { gateway } = store();
  const [one, two] = [gateway(), gateway()];
  await one.raise('latest', 7);
  expect(two.known('latest')).toBeNull();
  await two.refresh();
  expect(two.known('latest')).toBe(7);
  await two.raise('latest', 6);
  expect([one.known('latest'), two.known('latest')]).toEqual([7, 7]);
  await two.raise('latest', 9);
  await one.refresh();
  expect(one.known('latest')).toBe(9);
});

it('reads the store once for all that ask meanwhile, and after they asked', async () => {
  const { gateway, state } = store();
  const one = gateway();
  const first = one.refresh();
  const others = Array.from({ length: 100 }, () => one.refresh());
  await gateway().raise('latest', 7);
  await Promise.all([first, ...others]);
  expect(one.known('latest')).toBe(7);
  expect(state.reads).toBe(2);
});

it('writes a number once, and renews it every ten seconds', async () => {
  const { clock, gateway, state } = store();
  const one = gateway();
  for (let n = 0; n < 10; n++) await one.raise('latest', 7);
  expect(state.writes).toBe(1);
  clock.ms += 10_001;
  await one.raise('latest', 7);
  await one.raise('latest', 6);
  expect(state.writes).toBe(2);
});

it('is lowered for all gateways where none had the block for 30 s', async () => {
  const { clock, gateway } = store();
  const [one, two] = [gateway(), gateway()];
  await one.raise('latest', 7);
  await two.refresh();
  clock.ms += 29_999;
  await two.raise('latest', 5);
  expect(two.known('latest')).toBe(7);
  clock.ms += 2;
  await two.refresh();
  await two.raise('latest', 5);
  await one.refresh();
  expect([one.known('latest'), two.known('latest')]).toEqual([5, 5]);
});

it('does not take its own pause for one of the store, whose answer is there when it goes on', async () => {
  const { alone, clock } = store();
  const shared: SharedTips = {
    raise: () =>
      new Promise((resolve) => {
        setImmediate(() => {
          const until = performance.now() + 700;
          while (performance.now() < until);
          // As I/O: it is seen after the timers that are due.
          setImmediate(() => resolve(9));
        });
      }),
    read: async () => ({ latest: 9 }),
  };
  const one = createAdvertisedTip({ clock, network: 'main 1', shared, onStoreAway: (e) => alone.push(e) });
  await one.raise('latest', 7);
  expect([alone, one.known('latest')]).toEqual([[], 9]);
});

it('goes on alone if the store takes longer than it may, and no earlier', async () => {
  const { alone, clock } = store();
  const never = new Promise<never>(() => undefined);
  const shared: SharedTips = { raise: () => never, read: () => never, waitMs: 100 };
  const one = createAdvertisedTip({ clock, network: 'main 1', shared, onStoreAway: (e) => alone.push(e) });
  const begun = performance.now();
  await one.raise('latest', 7);
  expect(performance.now() - begun).toBeGreaterThan(95);
  expect([String(alone[0]), one.known('latest')]).toEqual(['Error: no answer within 100 ms', 7]);
});

it('goes on alone while the store is away, and shares what it told when it is back', async () => {
  const { alone, clock, gateway, state } = store();
  const [one, two] = [gateway(), gateway()];
  await one.raise('latest', 7);
  state.away = true;
  await one.raise('latest', 8);
  await one.refresh();
  expect(one.known('latest')).toBe(8);
  expect(alone).toHaveLength(1);
  state.away = false;
  clock.ms += 1_000;
  await one.refresh();
  await two.refresh();
  expect([one.known('latest'), two.known('latest')]).toEqual([8, 8]);
});

it('writes again what the store lost', async () => {
  const { gateway, numbers } = store();
  const one = gateway();
  await one.raise('finalized', 7);
  numbers.clear();
  await one.refresh();
  expect([one.known('finalized'), numbers.get('finalized')?.number]).toEqual([7, 7]);
});

it('of a process without others holds a number for 30 s', () => {
  const clock = { ms: 0, elapsed: () => clock.ms, sleep: async () => undefined };
  const one = createAdvertisedTip({ clock, network: 'main 1' });
  expect(one.raise('latest', 7)).toBeUndefined();
  one.raise('latest', 6);
  expect(one.known('latest')).toBe(7);
  clock.ms += 30_001;
  expect(one.known('latest')).toBeNull();
  one.raise('latest', 6);
  expect(one.known('latest')).toBe(6);
});
