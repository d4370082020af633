import { type Database, withLock } from '@packhouse/database';
import type { Observer } from '@packhouse/report';
import { type Context, repeat } from '@packhouse/runtime';

/** How often the state is read, in milliseconds, however often metrics are asked for … */
const READ_EVERY_MS = 5_000;
/** … and less often if reading took more than this part of the time. */
const MAX_TIME_SHARE = 0.05;
/** How often a process that does not observe checks whether it may, and its pause after an error, in milliseconds. */
const TAKE_OVER_MS = 2_000;

/**
 * Observes whenever no other process does, until the context is aborted: one lock for the whole installation, so that
 * each figure is reported by exactly one process.
 */
export function observeLoop({
  context,
  database,
  observer,
}: {
  context: Context;
  database: Database;
  observer: Observer;
}): Promise<void> {
  const { clock } = context;
  const failed = 'reading the state for the metrics failed';
  return repeat(context, { everyMs: TAKE_OVER_MS, failed }, () =>
    withLock(database, 'observe', context.signal, async (signal) => {
      try {
        while (!signal.aborted) {
          const began = clock.elapsed();
          await observer.update();
          const took = clock.elapsed() - began;
          await clock.sleep(Math.max(READ_EVERY_MS, took / MAX_TIME_SHARE), signal);
        }
      } finally {
        observer.forget();
      }
    }),
  );
}
