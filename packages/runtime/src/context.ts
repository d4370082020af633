import type { CallSignal } from './call-signal.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import type { Tracing } from './tracing.js';

/** The time, so that tests can own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: CallSignal): Promise<void>;
}

/** What every part gets first: never a module-level client, never a singleton. */
export interface Context {
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** Aborted when the process drains. */
  signal: AbortSignal;
  /** Absent where nobody traces. */
  tracing?: Tracing;
}
