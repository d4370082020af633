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

/**
 * Repeats a step, with a pause after each, until the context is aborted. An error is logged as `failed`, and the step is
 * repeated.
 */
export async function repeat(
  { clock, logger, signal }: Pick<Context, 'clock' | 'logger' | 'signal'>,
  { everyMs, failed }: { everyMs: number; failed: string },
  step: () => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await step();
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, `${failed}; it is tried again`);
    }
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }
}
