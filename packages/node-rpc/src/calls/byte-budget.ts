/** A bound on the bytes that are in flight or wait for their reader, for a whole source. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** A share of the budget. */
export interface ByteLease {
  /**
   * Counts received bytes. Undefined if the share still fits, else a promise to await before reading more.
   */
  received(bytes: number, signal: AbortSignal): Promise<void> | undefined;
  /** Sets the share to the bytes really in use. */
  settle(bytes: number): void;
  release(): void;
}

/**
 * Makes a budget of `getMax()` bytes, which may change.
 *
 * The block that the reader waits for is urgent: it never waits for room, since only its delivery makes room.
 */
export function createByteBudget(getMax: () => number) {
  let used = 0;
  const waiting = new Set<{ urgent: () => boolean; go: () => void }>();

  const wake = (): void => {
    const max = getMax();
    for (const waiter of [...waiting]) {
      if (used > max && !waiter.urgent()) continue;
      waiting.delete(waiter);
      waiter.go();
    }
  };

  return {
    get used(): number {
      return used;
    },
    /** Checks again which shares may continue, after one became urgent. */
    wake,
    /** Reserves expected bytes; null if they do not fit. `urgent` ones always fit. */
    reserve: (bytes: number, urgent: () => boolean): ByteLease | null => {
      if (used + bytes > getMax() && !urgent()) return null;
      let reserved = bytes;
      let arrived = 0;
      used += bytes;
      const set = (next: number): void => {
        used += next - reserved;
        const freed = next < reserved;
        reserved = next;
        if (freed && waiting.size > 0) wake();
      };
      return {
        received: (more, signal) => {
          arrived += more;
          if (arrived <= reserved) return undefined;
          set(arrived);
          if (used <= getMax() || urgent()) return undefined;
          return new Promise<void>((resolve, reject) => {
            const stop = (): void => {
              waiting.delete(waiter);
              reject(signal.reason);
            };
            const waiter = {
              urgent,
              go: () => {
                signal.removeEventListener('abort', stop);
                resolve();
              },
            };
            if (signal.aborted) {
              reject(signal.reason);
              return;
            }
            signal.addEventListener('abort', stop, { once: true });
            waiting.add(waiter);
          });
        },
        settle: set,
        release: () => set(0),
      };
    },
  };
}
