import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import type { CallSignal } from './signals.js';
import type { Tracing } from './tracing.js';

/** The time, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: CallSignal): Promise<void>;
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
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

/** The first argument of every part, in place of module-level clients and singletons. */
export interface Context {
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** Aborted when the process drains. */
  signal: AbortSignal;
  /** Absent if tracing is off. */
  tracing?: Tracing;
}
