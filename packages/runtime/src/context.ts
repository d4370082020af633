import type { Logger } from './observe/logger.js';
import type { Metrics } from './observe/metrics.js';
import type { Tracing } from './observe/tracing.js';
import type { Clock } from './time/clock.js';

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
