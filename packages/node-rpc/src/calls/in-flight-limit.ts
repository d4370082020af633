import pLimit from 'p-limit';

export type InFlightLimit = ReturnType<typeof createInFlightLimit>;

/** An answer that takes this many times the best (and 20 ms more) means that requests queue at the upstream. */
const SLOW_FACTOR = 3;

/**
 * Creates an adaptive limit of HTTP requests in flight, between 1 and `max`, that starts at `start`, doubles every round until the first overload (like TCP
 * slow start), then grows by one a round.
 */
export function createInFlightLimit(options: {
  start: number;
  max: number;
  onChange?: (limit: number) => void;
}) {
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
    /** How many may be in flight now. */
    get limit(): number {
      return limit.concurrency;
    },
    /** Running and waiting. */
    get load(): number {
      return limit.activeCount + limit.pendingCount;
    },
    /**
     * Runs `task` when there is room. The task may call `release` before it ends: its request then no longer counts
     * (an answer that waits for its reader must not block other requests).
     */
    run: <T>(task: (release: () => void) => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        void limit(
          () =>
            new Promise<void>((release) => {
              task(release).then(resolve, reject).finally(release);
            }),
        );
      }),
    /** Reports a successful request: its method and how long it took. */
    succeeded: (method: string, elapsedMs: number): void => {
      // The best moves slowly to the present value, so that an upstream that became slower is not limited for ever.
      const known = best.get(method) ?? elapsedMs;
      best.set(method, elapsedMs < known ? elapsedMs : known + (elapsedMs - known) * 0.02);
      if (elapsedMs > SLOW_FACTOR * known + 20) {
        slowStart = false;
        return;
      }
      set(slowStart ? exact + 1 : exact + 1 / exact);
    },
    /** Reports a request that began at `startedAt` (performance.now) and showed that the upstream is overloaded. */
    strained: (startedAt: number): void => {
      // Requests that were in flight together fail together: one decrease for all of them.
      if (startedAt < lastDecrease) return;
      lastDecrease = performance.now();
      slowStart = false;
      set(exact / 2);
    },
  };
}
