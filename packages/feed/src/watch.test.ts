import { createMetrics } from '@packhouse/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeSource } from './changes.js';
import { makeContext } from './testing/feed-world.js';
import { createWatch } from './watch.js';

/** A window of a chain with this head. */
const toText = (head: number, floor = 100): string =>
  JSON.stringify({ head, finalized: floor, floor, halted: false, finalHash: null, blocks: [], ranges: [] });

let now: { text: string; reads: number; away: boolean };
let listener: Parameters<ChangeSource['listen']>[1];
let watch: ReturnType<typeof createWatch>;
beforeEach(() => {
  vi.useFakeTimers();
  now = { text: toText(200), reads: 0, away: false };
  const changes: ChangeSource = {
    listen: (_network, given) => {
      listener = given;
      given.lost(true);
      return () => undefined;
    },
    close: async () => undefined,
  };
  const reads = {
    window: async () => {
      now.reads += 1;
      if (now.away) throw new Error('Postgres is away');
      return now.text;
    },
    parse: (text: string) => ({
      ...JSON.parse(text),
      bundles: new Map(),
      repairs: new Map(),
      ranges: new Map(),
    }),
  };
  const clock = { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => undefined };
  const context = { ...makeContext(), clock, metrics: createMetrics() };
  watch = createWatch({ context, reads, network: 'main', changes });
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

/** Waits at a block; `woken` says how it ended, undefined while it has not. */
async function waitAt(block: number, withinMs = 60_000) {
  const { serial } = await watch.current();
  const state: { woken?: boolean } = {};
  void watch.changed({ serial, block }, { withinMs }).then((woken) => {
    state.woken = woken;
  });
  return state;
}

describe('those who wait', () => {
  it('are woken by one read of the newest blocks, however many they are', async () => {
    const all = await Promise.all(Array.from({ length: 1_000 }, () => waitAt(201)));
    const before = now.reads;
    now.text = toText(201);
    listener.changed({ firstBlock: 201, lastBlock: 201 });
    await vi.advanceTimersByTimeAsync(100);
    expect(now.reads - before).toBe(1);
    expect(all.every(({ woken }) => woken === true)).toBe(true);
  });

  it('at an old block are woken by a notice about it, and by no other', async () => {
    const [here, elsewhere] = [await waitAt(7), await waitAt(9)];
    listener.changed({ firstBlock: 5, lastBlock: 7 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect([here.woken, elsewhere.woken]).toEqual([true, undefined]);
  });

  it('notice within 5 s a change of which no notice came, and within 1 s while none can come', async () => {
    const one = await waitAt(201);
    now.text = toText(201);
    await vi.advanceTimersByTimeAsync(5_100);
    expect(one.woken).toBe(true);
    listener.lost(false);
    const other = await waitAt(202);
    now.text = toText(202);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(other.woken).toBe(true);
  });

  it('wait on while Postgres is away, and are woken when it is back', async () => {
    const one = await waitAt(201);
    now.away = true;
    listener.changed({ firstBlock: 201, lastBlock: 201 });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(one.woken).toBeUndefined();
    now.away = false;
    now.text = toText(201);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(one.woken).toBe(true);
  });

  it('are let go after their time, when their client leaves, and when it closes', async () => {
    const short = await waitAt(201, 500);
    const long = await waitAt(201);
    const { serial } = await watch.current();
    const stop = new AbortController();
    const left = watch.changed({ serial, block: 201 }, { withinMs: 60_000, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(600);
    expect(short.woken).toBe(false);
    stop.abort();
    expect(await left).toBe(false);
    watch.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(long.woken).toBe(false);
  });
});

it('reads no more often than every 40 ms for those who wait, however many notices come', async () => {
  await waitAt(7);
  const before = now.reads;
  for (let block = 201; block < 301; block += 1) {
    now.text = toText(block);
    listener.changed({ firstBlock: block, lastBlock: block });
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(now.reads - before).toBeGreaterThan(8);
  expect(now.reads - before).toBeLessThan(15);
});
