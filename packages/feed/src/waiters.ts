import type { CallSignal } from '@packhouse/runtime';

/** Feeds that are woken in one turn of the event loop. */
const AT_ONCE = 256;

interface Waiter {
  block: number;
  wake(changed: boolean): void;
}

/** Feeds that wait, each at a block. */
export function createWaiters() {
  const waiters = new Set<Waiter>();
  let isClosed = false;
  return {
    size: () => waiters.size,
    /** Resolves with true when it is woken; with false after `withinMs`, when the signal is aborted, or at the end. */
    wait(
      block: number,
      { withinMs, signal }: { withinMs: number; signal?: CallSignal | undefined },
    ): Promise<boolean> {
      if (isClosed || signal?.aborted === true || withinMs <= 0) return Promise.resolve(false);
      return new Promise((resolve) => {
        const wake = (changed: boolean): void => {
          waiters.delete(waiter);
          clearTimeout(limit);
          signal?.removeEventListener('abort', leave);
          resolve(changed);
        };
        const leave = (): void => wake(false);
        const waiter: Waiter = { block, wake };
        const limit = setTimeout(leave, withinMs);
        signal?.addEventListener('abort', leave, { once: true });
        waiters.add(waiter);
      });
    },
    /** Wakes those at such blocks, some in each turn of the event loop. */
    wake(isAt: (block: number) => boolean): void {
      const woken = [...waiters].filter(({ block }) => isAt(block));
      const next = (from: number): void => {
        for (const waiter of woken.slice(from, from + AT_ONCE)) waiter.wake(true);
        if (from + AT_ONCE < woken.length) setImmediate(() => next(from + AT_ONCE));
      };
      next(0);
    },
    /** Ends all waiting. */
    close(): void {
      isClosed = true;
      for (const waiter of [...waiters]) waiter.wake(false);
    },
  };
}
