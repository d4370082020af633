import { type CallSignal, type Clock, createFairTurns, type FairTurns } from '@packhouse/runtime';

/** A limit of the calls that begin in any window of time. */
interface RateWindow {
  /** Calls that may share one request. */
  readonly largest: number;
  /**
   * Resolves when `calls` more may begin; rejects when aborted. Callers take turns, and the calls of one begin in the
   * order of asking.
   */
  take(calls: number, signal: CallSignal, caller?: Caller): Promise<void>;
}

type Caller = Parameters<FairTurns['enter']>[0];

/** Requests that were spaced here may arrive closer together: the window is this much longer than a second. */
const SLACK = 1.05;

/**
 * Makes a limit of `perSecond` calls a second (may be below 1).
 *
 * A sliding window rather than a token bucket: a bucket lets its burst and a second's refill through in the same
 * second, which a provider that counts by the second refuses.
 */
export function createRateWindow(options: { perSecond: number; clock: Clock }): RateWindow {
  const { clock, perSecond } = options;
  const windowMs = Math.max(1_000, 1_000 / perSecond) * SLACK;
  const largest = Math.max(1, Math.floor((perSecond * windowMs) / SLACK / 1_000));
  const begun: { at: number; calls: number }[] = [];
  let sum = 0;
  /** One waits for room at a time; who comes next is decided when it has it. */
  const turns = createFairTurns(1);

  const waitForRoom = async (calls: number, signal: CallSignal): Promise<void> => {
    for (;;) {
      if (signal.aborted) throw signal.reason;
      const now = clock.elapsed();
      for (let first = begun[0]; first !== undefined && first.at <= now - windowMs; first = begun[0]) {
        sum -= first.calls;
        begun.shift();
      }
      if (sum === 0 || sum + calls <= largest) {
        begun.push({ at: now, calls });
        sum += calls;
        return;
      }
      await clock.sleep(Math.max(1, (begun[0]?.at ?? now) + windowMs - now), signal);
    }
  };

  return {
    largest,
    take: async (calls, signal, caller = '') => {
      const leave = await turns.enter(caller, signal);
      try {
        await waitForRoom(calls, signal);
      } finally {
        leave();
      }
    },
  };
}
