import type { Clock } from './clock.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import type { Tracing } from './tracing.js';

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
