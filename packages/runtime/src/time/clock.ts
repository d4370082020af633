import type { CallSignal } from './signals.js';

/** The time, so that tests can control it. */
export interface Clock {
  /**
   * The date, in milliseconds since the Unix epoch: for what is shown, and what is compared with dates from elsewhere.
   * It jumps when the machine's clock is set.
   */
  now(): number;
  /** Milliseconds since the process began: for every duration. It never goes back. */
  elapsed(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: CallSignal): Promise<void>;
}

/** A day of UTC. */
export const DAY_MS = 86_400_000;

/** The day of UTC that holds a point in time, as days since 1970-01-01. */
export const toDay = (ms: number): number => Math.floor(ms / DAY_MS);

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
