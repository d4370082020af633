import { CallController } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { memoryLeases } from '../../test/memory-leases.js';
import { testContext } from '../../test/test-source.js';
import { createState, type Limits } from './budget-rule.js';
import { createLedger } from './create-ledger.js';

const NOON = Date.UTC(2026, 10, 30, 12);
const signal = new CallController();

/** Processes that share one budget, and a time that goes on when one of them sleeps. */
function processes(count: number, limits: Partial<Limits>) {
  const time = { now: NOON };
  const store = memoryLeases(time);
  const all: Limits = { perSecond: null, perDay: null, perMonth: null, reserve: 0.1, ...limits };
  const sleeping = new Set<{ until: number; wake: () => void }>();
  const clock = {
    // Each machine has a date of its own.
    now: () => time.now + Math.random() * 600_000,
    elapsed: () => time.now,
    sleep: (ms: number, aborted?: { addEventListener(type: 'abort', f: () => void, o?: object): void }) =>
      new Promise<void>((wake) => {
        const one = { until: time.now + ms, wake };
        sleeping.add(one);
        aborted?.addEventListener('abort', () => {
          sleeping.delete(one);
          wake();
        });
      }),
  };
  const context = { ...testContext(), clock } as unknown as ReturnType<typeof testContext>;
  const ledgers = Array.from({ length: count }, () =>
    createLedger({
      context,
      store,
      key: 'p',
      name: 'provider p',
      provider: 'p',
      limits: () => all,
      first: async (now) => createState(now),
    }),
  );
  return {
    time,
    store,
    ledgers,
    limits: all,
    lines: context.lines,
    /** Goes on with time until this is done. */
    async run<T>(work: Promise<T>): Promise<T> {
      let done = false;
      const end = (): void => {
        done = true;
      };
      work.then(end, end);
      while (!done) {
        for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
        if (done) break;
        const [next] = [...sleeping].sort((a, b) => a.until - b.until);
        if (next === undefined) continue;
        time.now = Math.max(time.now, next.until);
        sleeping.delete(next);
        next.wake();
      }
      return work;
    },
  };
}

describe('a budget that several processes share', () => {
  it('is not exceeded in any second, and at least 95% of it can be used', async () => {
    const { ledgers, time, run } = processes(6, { perSecond: 50 });
    const sent: { at: number; calls: number }[] = [];
    const work = ledgers.map(async (ledger, index) => {
      // The first four fetch blocks in batches, the others forward calls one by one.
      for (let left = index < 4 ? 120 : 40; left > 0; ) {
        const want = { use: 'urgent', each: 1, calls: Math.min(left, index < 4 ? 8 : 1) } as const;
        const calls = await ledger.take(want, signal);
        sent.push({ at: time.now, calls });
        left -= calls;
      }
    });
    await run(Promise.all(work));
    for (const { at } of sent) {
      const within = sent.filter((other) => other.at >= at && other.at < at + 1_000);
      expect(within.reduce((sum, { calls }) => sum + calls, 0)).toBeLessThanOrEqual(50);
    }
    // 560 calls are twelve windows, of which the last is not waited for.
    expect(time.now - NOON).toBeLessThan((560 / 50 / 0.95) * 1_000);
  });

  it('of a day is used up exactly, with the reserve for clients and the head', async () => {
    const { ledgers, run } = processes(6, { perDay: 100 });
    const drain = async (use: 'urgent' | 'backfill', of: typeof ledgers): Promise<number> => {
      let sum = 0;
      const each = of.map(async (ledger) => {
        for (;;) {
          const calls = await ledger.take({ use, each: 1, calls: 7 }, signal);
          sum += calls;
        }
      });
      await run(Promise.allSettled(each));
      return sum;
    };
    expect(await drain('backfill', ledgers.slice(0, 4))).toBe(90);
    expect(ledgers[0]?.refusal('backfill')).toMatchObject({ waitMs: 43_200_000 });
    expect(ledgers[0]?.refusal('urgent')).toBeNull();
    expect(await drain('urgent', ledgers)).toBe(10);
  });
});

describe('a budget', () => {
  it('says what is used up, until when, and asks again when its limits changed', async () => {
    const { ledgers, limits, store, run } = processes(1, { perDay: 10, reserve: 0.5 });
    const ledger = ledgers[0]!;
    const want = { use: 'backfill', each: 1, calls: 6 } as const;
    expect(await run(ledger.take(want, signal))).toBe(5);
    await expect(ledger.take(want, signal)).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      message:
        'Of provider p what backfills may take of the budget of the day is used up: nothing more is asked of it until 2026-12-01T00:00:00.000Z.',
      data: { provider: 'p', period: 'day', until: '2026-12-01T00:00:00.000Z' },
    });
    const { asked } = store;
    await expect(ledger.take(want, signal)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect(store.asked).toBe(asked);
    limits.perDay = 20;
    ledger.changed();
    expect(await run(ledger.take(want, signal))).toBe(5);
  });

  it('lets nothing through while its store is away, says so once, and goes on after it', async () => {
    const { ledgers, lines, store, time } = processes(1, { perDay: 10 });
    const ledger = ledgers[0]!;
    const want = { use: 'urgent', each: 1, calls: 1 } as const;
    store.away = true;
    for (let tries = 0; tries < 3; tries++) {
      await expect(ledger.take(want, signal)).rejects.toMatchObject({ code: 'BUDGET_UNAVAILABLE' });
      time.now += 1_000;
    }
    expect(lines.filter((line) => line.includes('budget unavailable'))).toHaveLength(1);
    store.away = false;
    expect(await ledger.take(want, signal)).toBe(1);
  });

  it('notes what came back late as sent then, so that the next window does not begin too early', async () => {
    const { ledgers, store, time, run } = processes(1, { perSecond: 10 });
    const { swap } = store;
    // Longer than a grant may take, by the clock that measures it.
    store.swap = async (...args) => {
      for (const began = performance.now(); performance.now() - began < 20; );
      time.now += 400;
      store.swap = swap;
      return swap(...args);
    };
    const want = { use: 'urgent', each: 1, calls: 10 } as const;
    expect(await run(ledgers[0]!.take(want, signal))).toBe(10);
    expect(await run(ledgers[0]!.take(want, signal))).toBe(10);
    expect(time.now - NOON).toBe(400 + 1_030);
  });

  it('has urgent calls pass backfills that wait, and forgets who went away', async () => {
    const { ledgers, run } = processes(1, { perSecond: 10 });
    const ledger = ledgers[0]!;
    const backfill = { use: 'backfill', each: 1, calls: 9 } as const;
    expect(await run(ledger.take(backfill, signal))).toBe(9);
    const gone = new AbortController();
    const waiting = ledger.take(backfill, gone.signal);
    const refused = expect(waiting).rejects.toThrow('gone');
    expect(await ledger.take({ use: 'urgent', each: 1, calls: 1 }, signal)).toBe(1);
    gone.abort(new Error('gone'));
    await refused;
    expect(await run(ledger.take(backfill, signal))).toBe(9);
  });
});
