import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { Connections } from '../connection/connections.js';
import { databaseAddress } from '../connection/database-error.js';
import { checkServer } from './check-server.js';
import { migrationNames, missingMigrations, readApplied } from './migrations.js';

/**
 * Throws DATABASE_UNSUPPORTED if Packhouse cannot work with the server, DATABASE_NEWER or DATABASE_NOT_MIGRATED if the
 * schema does not fit this program.
 */
export async function checkSchema(connections: Connections): Promise<void> {
  await checkServer(connections.connectionString);
  const applied = await connections.session(({ client }) => readApplied(client));
  const missing = missingMigrations(applied, await migrationNames());
  if (missing.length === 0) return;
  throw new PackhouseError({
    code: 'DATABASE_NOT_MIGRATED',
    message: `The schema in ${databaseAddress(connections.connectionString)} is older than this program: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing.`,
    hint: 'Run `packhouse migrate`.',
    data: { missing },
  });
}

/** How long a service waits for `packhouse migrate`, and how often it looks, in milliseconds. */
const WAIT_MS = 60_000;
const LOOK_MS = 1_000;

/**
 * Resolves when the schema fits this program. Waits while it is older: in a rolling start the new programs and
 * `packhouse migrate` begin at the same time, and a program that starts first must not fail.
 *
 * Throws DATABASE_NOT_MIGRATED after `waitMs` (default a minute), what else `checkSchema` throws at once, and the signal's reason when it is aborted.
 */
export async function waitForSchema(
  database: { checkSchema(): Promise<void> },
  context: Pick<Context, 'clock' | 'logger' | 'signal'>,
  waitMs: number = WAIT_MS,
): Promise<void> {
  const { clock, logger, signal } = context;
  const until = clock.elapsed() + waitMs;
  for (let first = true; ; first = false) {
    try {
      return await database.checkSchema();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPackhouseError(error, 'DATABASE_NOT_MIGRATED') || clock.elapsed() >= until) throw error;
      if (first) logger.warn({ missing: error.data.missing, waitMs }, 'waiting for `packhouse migrate`');
      await clock.sleep(LOOK_MS, signal);
    }
  }
}
