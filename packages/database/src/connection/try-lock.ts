import pg from 'pg';
import type { Database } from '../contract/database.js';
import { type Connections, ended, limited } from './connections.js';
import { databaseError } from './database-error.js';

/** How often an idle connection is checked, and the time limit of the check. */
const CHECK_EVERY_MS = 15_000;
const CHECK_WITHIN_MS = 10_000;

/** $1 name. */
const TRY = "SELECT pg_try_advisory_lock(hashtextextended('packhouse:lock:' || $1, 0)) AS locked";

/**
 * Takes a session lock on a separate connection (see Database.tryLock).
 *
 * A connection that breaks without an error (a machine that vanished) is detected by regular checks: Postgres gives
 * the lock to another session as soon as it notices the same.
 */
export function createTryLock(connections: Connections): Database['tryLock'] {
  return async (name) => {
    const client = new pg.Client(connections.config);
    const lost = new AbortController();
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ locked: boolean }>(
        limited({ text: TRY, values: [name] }, CHECK_WITHIN_MS),
      );
      if (rows[0]?.locked !== true) {
        await ended(client.end());
        return null;
      }
    } catch (error) {
      client.end().catch(() => {});
      throw databaseError(error, connections.connectionString);
    }

    let answered = true;
    const check = setInterval(() => {
      if (!answered) return;
      answered = false;
      const late = setTimeout(end, CHECK_WITHIN_MS);
      client.query('SELECT 1').then(
        () => {
          answered = true;
          clearTimeout(late);
        },
        () => {
          clearTimeout(late);
          end();
        },
      );
    }, CHECK_EVERY_MS);
    check.unref();
    function end(): void {
      clearInterval(check);
      lost.abort(new Error(`the lock "${name}" is not held any more`));
    }
    client.once('end', end);
    return {
      lost: lost.signal,
      release: async () => {
        end();
        // The lock ends with its session, so an error of a connection that is already gone does not matter.
        await ended(client.end().catch(() => {}));
      },
    };
  };
}
