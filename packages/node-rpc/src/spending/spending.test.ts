import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jumpingClock } from '../../test/test-source.js';
import { createRateWindow } from './spending.js';

/** A clock that advances only by sleeping. */
function stillClock() {
  const clock = jumpingClock();
  let now = 0;
  return {
    ...clock,
    elapsed: () => now,
    sleep: async (ms: number, signal?: AbortSignal) => {
      await clock.sleep(ms, signal);
      now += ms;
    },
  };
}

describe('createRateWindow', () => {
  it('lets no second have more calls than allowed, and wastes no second', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }),
        async (perSecond, sizes) => {
          const clock = stillClock();
          const window = createRateWindow({ perSecond, clock });
          const begun: { at: number; calls: number }[] = [];
          for (const size of sizes) {
            const calls = Math.min(size, window.largest);
            await window.take(calls, new AbortController().signal);
            begun.push({ at: clock.elapsed(), calls });
          }
          for (const { at } of begun) {
            const within = begun.filter((other) => other.at >= at && other.at < at + 1_000);
            expect(within.reduce((sum, other) => sum + other.calls, 0)).toBeLessThanOrEqual(perSecond);
          }
          const total = begun.reduce((sum, { calls }) => sum + calls, 0);
          // Calls that share a request cannot be split, so a window may go half used.
          expect(clock.elapsed()).toBeLessThanOrEqual((2 * total * 1_050) / perSecond);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('spaces single calls where less than one a second is allowed', async () => {
    const clock = stillClock();
    const window = createRateWindow({ perSecond: 0.5, clock });
    expect(window.largest).toBe(1);
    for (let index = 0; index < 4; index += 1) await window.take(1, new AbortController().signal);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(6_000);
  });

  it('goes on at its rate when the clock is set back an hour, and after it is set right again', async () => {
    const clock = jumpingClock();
    const window = createRateWindow({ perSecond: 2, clock });
    const take = () => window.take(2, new AbortController().signal);
    await take();
    clock.setBack(3_600_000);
    await take();
    await take();
    clock.setBack(-3_600_000);
    await take();
    expect(clock.slept).toHaveLength(3);
    expect(Math.max(...clock.slept)).toBeLessThanOrEqual(1_050);
  });

  it('lets callers take turns, however many calls one of them has waiting', async () => {
    const clock = stillClock();
    const window = createRateWindow({ perSecond: 2, clock });
    const begun: string[] = [];
    const take = async (caller: string): Promise<void> => {
      await window.take(1, new AbortController().signal, caller);
      begun.push(`${caller} in second ${Math.floor(clock.elapsed() / 1_050)}`);
    };
    const greedy = Array.from({ length: 20 }, () => take('greedy'));
    const others = ['one', 'two', 'one'].map(take);
    await Promise.all(others);
    expect(begun).toEqual([
      'greedy in second 0',
      'greedy in second 0',
      'one in second 1',
      'two in second 1',
      'greedy in second 2',
      'one in second 2',
    ]);
    await Promise.all(greedy);
    expect(begun.at(-1)).toBe('greedy in second 11');
  });

  it('stops waiting when aborted, and lets the next one through', async () => {
    const clock = stillClock();
    const window = createRateWindow({ perSecond: 1, clock });
    await window.take(1, new AbortController().signal);
    const reason = new Error('enough');
    await expect(window.take(1, AbortSignal.abort(reason))).rejects.toBe(reason);
    await window.take(1, new AbortController().signal);
  });
});
