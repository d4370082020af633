import type { Database } from '@packhouse/database';
import type { Observer } from '@packhouse/pipeline';
import type { Context } from '@packhouse/runtime';

/** How often the state is read, in milliseconds, however often metrics are asked for … */
const LOOK_EVERY_MS = 5_000;
/** … and less often if reading took more than this part of the time. */
const MOST_OF_TIME = 0.05;
/** How often a process that does not observe asks whether it may, in milliseconds. */
const TAKE_OVER_MS = 2_000;
/** Pause after an error, in milliseconds. */
const RETRY_MS = 2_000;

/**
 * Observes whenever no other process does, until the context is aborted: one lock for the whole installation, so that
 * each figure is reported by exactly one process.
 */
export async function observeLoop(parts: {
  context: Context;
  database: Database;
  observer: Observer;
}): Promise<void> {
  const { context, database } = parts;
  const { clock, signal } = context;
  while (!signal.aborted) {
    try {
      const lock = await database.tryLock('observe');
      if (lock === null) await clock.sleep(TAKE_OVER_MS, signal);
      else await observeUntil(parts, lock);
    } catch (error) {
      if (signal.aborted) return;
      context.logger.warn({ err: error }, 'reading the state for the metrics failed; it is tried again');
      await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }
}

async function observeUntil(
  { context: { clock, signal }, observer }: { context: Context; observer: Observer },
  lock: { lost: AbortSignal; release(): Promise<void> },
): Promise<void> {
  const ended = AbortSignal.any([signal, lock.lost]);
  try {
    while (!ended.aborted) {
      const began = clock.elapsed();
      await observer.look();
      const took = clock.elapsed() - began;
      await clock.sleep(Math.max(LOOK_EVERY_MS, took / MOST_OF_TIME), ended);
    }
  } finally {
    observer.forget();
    await lock.release();
  }
}
