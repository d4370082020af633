import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, PackhouseError, systemClock } from '@packhouse/runtime';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { databaseAddress, databaseError, toAnswer } from '../connection/database-error.js';
import { checkServer } from './check-server.js';
import { MIGRATIONS_FOLDER, migrationNames, missingMigrations, readApplied } from './migrations.js';

/** Locks the whole database, so that any number of processes may migrate at once. */
const LOCK = "SELECT pg_advisory_lock(hashtextextended('packhouse:migrate', 0))";

/** How long a migration may wait for a lock: every statement queued behind it waits too. */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';
/** The pause before the next try, and the time limit of all tries. */
const PAUSE_MS = 1_000;
const TRY_FOR_MS = 120_000;

/**
 * Brings the schema up to this program's version, each migration in a separate transaction.
 *
 * Safe to call from several processes at once: the others wait and then find nothing to do. Safe to call while
 * programs of the previous version run: a migration that waits two seconds for a lock gives up, so that statements
 * queued behind it continue, and tries again. Resolves to the names of the migrations it applied. Throws
 * DATABASE_UNSUPPORTED, DATABASE_NEWER, DATABASE_UNAVAILABLE, DATABASE_BUSY if it did not get the lock within two
 * minutes, DISK_FULL.
 */
export async function migrate(options: {
  connectionString: string;
  logger?: Logger;
  /** Default: the migrations of this repository. */
  folder?: string;
  /** How long to try while other transactions hold a lock, in milliseconds; default two minutes. */
  tryForMs?: number;
}): Promise<string[]> {
  const folder = options.folder ?? MIGRATIONS_FOLDER;
  const client = new pg.Client({
    connectionString: options.connectionString,
    application_name: 'packhouse migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {});
  try {
    await checkServer(options.connectionString);
    await client.connect();
    await client.query(LOCK);
    const missing = missingMigrations(await readApplied(client), await migrationNames(folder));
    if (missing.length === 0) return [];
    // Not `CREATE SCHEMA IF NOT EXISTS`, which needs the right to create schemas even if the schema exists.
    const schema = await client.query("SELECT to_regnamespace('packhouse') IS NOT NULL AS there");
    if (schema.rows[0]?.there !== true) await client.query('CREATE SCHEMA packhouse');
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const until = systemClock.elapsed() + (options.tryForMs ?? TRY_FOR_MS);
    for (let done = false; !done; ) {
      try {
        await applyMissing(client, folder);
        done = true;
      } catch (error) {
        if (toAnswer(error)?.code !== LOCK_NOT_AVAILABLE) throw error;
        // The runner leaves its transaction open.
        await client.query('ROLLBACK');
        if (systemClock.elapsed() >= until) throw busy(databaseAddress(options.connectionString), error);
        options.logger?.warn(
          { err: error },
          'another transaction is in the way of a migration; it is tried again',
        );
        await delay(PAUSE_MS);
      }
    }
    options.logger?.info({ migrations: missing }, 'database schema brought up to date');
    return missing;
  } catch (error) {
    throw databaseError(error, options.connectionString);
  } finally {
    await client.end().catch(() => {});
  }
}

async function applyMissing(client: pg.Client, folder: string): Promise<void> {
  const silent = (): void => {};
  await runner({
    dbClient: client,
    dir: folder,
    ignorePattern: '(?!\\d{4}_).*',
    migrationsSchema: 'packhouse',
    migrationsTable: 'migration',
    direction: 'up',
    singleTransaction: false,
    noLock: true, // LOCK covers the comparison above as well
    logger: { debug: silent, info: silent, warn: silent, error: silent },
  });
}

function busy(address: string, cause: unknown): PackhouseError {
  return new PackhouseError({
    code: 'DATABASE_BUSY',
    message: `The schema in ${address} could not be migrated: other transactions hold a lock that a migration needs.`,
    hint: 'Nothing was changed by it. End the long transaction, which pg_stat_activity shows, and run `packhouse migrate` again.',
    cause,
  });
}
