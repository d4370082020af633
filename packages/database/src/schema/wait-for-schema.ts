import { type Context, isPackhouseError } from '@packhouse/runtime';
import type { Database } from '../database.js';

/** How long a service waits for `packhouse migrate`, and how often it looks, in milliseconds. */
const WAIT_MS = 60_000;
const LOOK_MS = 1_000;

/**
 * Resolves when the schema fits this program. One that is still older is waited for: in a rolling start the new
 * programs and `packhouse migrate` begin at the same time, and whoever is first must not die of it.
 *
 * Throws DATABASE_NOT_MIGRATED after `waitMs` (default a minute), DATABASE_NEWER at once, what `checkSchema` throws,
 * and the signal's reason when it is aborted.
 */
export async function waitForSchema(
  database: Pick<Database, 'checkSchema'>,
  context: Pick<Context, 'clock' | 'logger' | 'signal'>,
  waitMs: number = WAIT_MS,
): Promise<void> {
  const { clock, logger, signal } = context;
  const until = clock.now() + waitMs;
  for (let first = true; ; first = false) {
    try {
      return await database.checkSchema();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPackhouseError(error, 'DATABASE_NOT_MIGRATED') || clock.now() >= until) throw error;
      if (first) logger.warn({ missing: error.data.missing, waitMs }, 'waiting for `packhouse migrate`');
      await clock.sleep(LOOK_MS, signal);
    }
  }
}
