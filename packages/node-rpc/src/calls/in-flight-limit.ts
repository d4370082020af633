import pLimit from 'p-limit';

/** An adaptive ceiling of HTTP requests in flight: additive increase, multiplicative decrease. */
export interface InFlightLimit {
  /** How many may be in flight now. */
  readonly limit: number;
  /** Running and waiting. */
  readonly load: number;
  /**
   * Runs `task` when there is room. The task may call `release` before it ends: its request then no longer counts
   * (an answer that waits for its reader must not keep others from being asked).
   */
  run<T>(task: (release: () => void) => Promise<T>): Promise<T>;
  /** Tells of a request that went well: its method and how long it took. */
  succeeded(method: string, elapsedMs: number): void;
  /** Tells of a request that began at `startedAt` (performance.now) and showed that the upstream is strained. */
  strained(startedAt: number): void;
}

/** An answer that takes this many times the best (and 20 ms more) means that requests queue over there. */
const SLOW_FACTOR = 3;

/**
 * Makes a limit between 1 and `max` that starts at `start`, doubles every round until the first strain (as TCP's
 * slow start does), then grows by one a round.
 */
export function createInFlightLimit(options: {
  start: number;
  max: number;
  onChange?: (limit: number) => void;
}): InFlightLimit {
  let exact = Math.min(options.start, options.max);
  let slowStart = true;
  let lastDecrease = Number.NEGATIVE_INFINITY;
  const best = new Map<string, number>();
  const limit = pLimit(Math.max(1, Math.floor(exact)));

  const set = (value: number): void => {
    exact = Math.min(options.max, Math.max(1, value));
    const whole = Math.floor(exact);
    if (whole === limit.concurrency) return;
    limit.concurrency = whole;
    options.onChange?.(whole);
  };

  return {
    get limit() {
      return limit.concurrency;
    },
    get load() {
      return limit.activeCount + limit.pendingCount;
    },
    run: (task) =>
      new Promise((resolve, reject) => {
        void limit(
          () =>
            new Promise<void>((release) => {
              task(release).then(resolve, reject).finally(release);
            }),
        );
      }),
    succeeded: (method, elapsedMs) => {
      // The best creeps towards the present, so that a node that became slower for good is not held back for ever.
      const known = best.get(method) ?? elapsedMs;
      best.set(method, elapsedMs < known ? elapsedMs : known + (elapsedMs - known) * 0.02);
      if (elapsedMs > SLOW_FACTOR * known + 20) {
        slowStart = false;
        return;
      }
      set(slowStart ? exact + 1 : exact + 1 / exact);
    },
    strained: (startedAt) => {
      // What was in flight together fails together: one decrease for all of it.
      if (startedAt < lastDecrease) return;
      lastDecrease = performance.now();
      slowStart = false;
      set(exact / 2);
    },
  };
}
