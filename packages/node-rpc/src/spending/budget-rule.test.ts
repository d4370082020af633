import { DAY_MS } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createState, type Limits, takeUnits, toWindow, type Use } from './budget-rule.js';

const NOON = Date.UTC(2026, 10, 30, 12);
const none: Limits = { perSecond: null, perDay: null, perMonth: null, reserve: 0.1 };

function budget(limits: Partial<Limits>) {
  const all = { ...none, ...limits };
  let state = createState(NOON);
  return {
    take(calls: number, at: number, use: Use = 'urgent', each = 1) {
      const taken = takeUnits(state, all, [{ use, each, calls }], at);
      state = JSON.parse(JSON.stringify(taken.state)) as typeof state;
      return taken.grants[0]!;
    },
  };
}

describe('a budget of a second', () => {
  it('is never exceeded in any second, and at least 95% usable while calls wait', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.array(
          fc.record({ calls: fc.integer({ min: 1, max: 60 }), each: fc.integer({ min: 1, max: 5 }) }),
          {
            minLength: 60,
            maxLength: 60,
          },
        ),
        (perSecond, wants) => {
          const { take } = budget({ perSecond });
          const { units } = toWindow(perSecond);
          const sent: { at: number; units: number }[] = [];
          let now = NOON;
          for (const { calls, each } of wants) {
            // A call above the limit is another matter, see below.
            const cost = Math.min(each, units);
            for (let left = calls; left > 0; ) {
              const grant = take(left, now, 'urgent', cost);
              if (grant.calls > 0) sent.push({ at: now, units: grant.calls * cost });
              left -= grant.calls;
              if (grant.throttledBy !== null) {
                expect(grant.throttledBy.until).toBeGreaterThan(now);
                now = grant.throttledBy.until;
              }
            }
          }
          for (const { at } of sent) {
            const within = sent.filter((other) => other.at >= at && other.at < at + 1_000);
            expect(within.reduce((sum, other) => sum + other.units, 0)).toBeLessThanOrEqual(units);
          }
          const seconds = (now - NOON) / 1_000;
          const all = sent.reduce((sum, each) => sum + each.units, 0);
          // What does not fit into the rest of a window waits for the next: up to four units of each.
          if (seconds > 10) expect(all / seconds).toBeGreaterThan(0.95 * (units - 4));
        },
      ),
      { numRuns: 10 },
    );
  });

  it('lets a call that costs more than a second begin in an empty one, and has the next ones pay', () => {
    const { take } = budget({ perSecond: 30 });
    expect(take(2, NOON, 'urgent', 75)).toMatchObject({ calls: 1, throttledBy: { period: 'second' } });
    expect(take(1, NOON + 3_000)).toMatchObject({ calls: 0 });
    expect(take(1, NOON + 3_100)).toMatchObject({ calls: 1 });
  });

  it('lets such a call begin beside others that leave no second empty, and leaves them the reserve', () => {
    const { take } = budget({ perSecond: 20 });
    let heavy = 0;
    let light = 0;
    for (let now = NOON; now < NOON + 300_000; now += 250) {
      light += take(1, now).calls;
      heavy += take(1, now, 'backfill', 75).calls;
    }
    expect(heavy).toBeGreaterThan(50);
    expect(light).toBeGreaterThan(500);
    expect(light + heavy * 75).toBeLessThanOrEqual(20 * 301);
  });

  it('may be less than one', () => {
    const { take } = budget({ perSecond: 0.5 });
    expect(take(2, NOON)).toEqual({ calls: 1, throttledBy: { period: 'second', until: NOON + 2_060 } });
    expect(take(1, NOON + 2_059).calls).toBe(0);
    expect(take(1, NOON + 2_060).calls).toBe(1);
  });

  it('keeps its reserve from backfills, whoever comes first', () => {
    const { take } = budget({ perSecond: 100 });
    expect(take(200, NOON, 'backfill').calls).toBe(90);
    expect(take(200, NOON).calls).toBe(10);
    expect(take(1, NOON + 500, 'backfill').calls).toBe(0);
  });
});

describe('a budget of a day and a month', () => {
  it('ends exactly, names the end, and begins again with the day', () => {
    const { take } = budget({ perDay: 1_000 });
    expect(take(990, NOON, 'backfill')).toEqual({
      calls: 900,
      throttledBy: { period: 'day', until: NOON + DAY_MS / 2 },
    });
    expect(take(990, NOON).calls).toBe(100);
    expect(take(1, NOON + DAY_MS / 2 - 1).calls).toBe(0);
    expect(take(1, NOON + DAY_MS / 2, 'backfill').calls).toBe(1);
  });

  it('counts weighted units, and takes no part of a call', () => {
    const { take } = budget({ perDay: 100, reserve: 0 });
    expect(take(5, NOON, 'backfill', 30)).toMatchObject({ calls: 3, throttledBy: { period: 'day' } });
    expect(take(5, NOON, 'backfill', 10)).toMatchObject({ calls: 1 });
  });

  it('names the month if both are used up', () => {
    const { take } = budget({ perDay: 10, perMonth: 10 });
    expect(take(11, NOON)).toEqual({
      calls: 10,
      throttledBy: { period: 'month', until: Date.UTC(2026, 11) },
    });
    expect(take(1, Date.UTC(2026, 11)).calls).toBe(1);
  });

  it('is not given again when the clock of the store goes back', () => {
    const { take } = budget({ perSecond: 5, perDay: 10 });
    const next = NOON + DAY_MS / 2;
    expect(take(3, next).calls).toBe(3);
    expect(take(5, next - 300_000)).toMatchObject({ calls: 0, throttledBy: { period: 'second' } });
    expect(take(5, next - 298_000).calls).toBe(5);
    expect(take(5, next - 296_000)).toMatchObject({ calls: 2, throttledBy: { period: 'day' } });
  });
});
