import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { Connections } from '../connection/connections.js';
import { databaseAddress } from '../connection/database-error.js';
import { migrationNames, missingMigrations, readApplied } from './migrations.js';

/** The first version with multiranges and DETACH CONCURRENTLY. */
const OLDEST_MAJOR = 14;

/** Throws DATABASE_UNAVAILABLE if the server is too old. `version` is its setting server_version_num. */
export function checkServer(version: number, address: string): void {
  const major = Math.floor(version / 10_000);
  if (major >= OLDEST_MAJOR) return;
  throw new PackhouseError({
    code: 'DATABASE_UNAVAILABLE',
    message: `Postgres at ${address} has version ${major}, expected ${OLDEST_MAJOR} or newer.`,
    hint: 'Set DATABASE_URL to a newer server.',
    data: { expected: OLDEST_MAJOR, got: major },
    retryable: false,
  });
}

/** Throws DATABASE_NEWER or DATABASE_NOT_MIGRATED if the schema does not fit this program. */
export async function checkSchema(connections: Connections): Promise<void> {
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
 * Throws DATABASE_NOT_MIGRATED after `waitMs` (default a minute), DATABASE_NEWER at once, what `checkSchema` throws,
 * and the signal's reason when it is aborted.
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
