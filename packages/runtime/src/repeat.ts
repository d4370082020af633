import type { Context } from './context.js';

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
