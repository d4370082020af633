/** Shares the reads of one value: those that are requested while one is under way share the next one. */
export function createSharedReads<T>(read: () => Promise<T>) {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  const start = (): Promise<T> => {
    next = undefined;
    startedAt = performance.now();
    const reading = read().finally(() => {
      if (running === reading) running = undefined;
    });
    running = reading;
    return reading;
  };
  return {
    /** Resolves with a read that was sent after this call. */
    next(): Promise<T> {
      if (running === undefined && next === undefined) return start();
      next ??= (running as Promise<T>).then(start);
      return next;
    },
    isIdle: (): boolean => running === undefined && next === undefined,
    /** When the last read was sent (performance.now). */
    startedAt: (): number => startedAt,
  };
}
