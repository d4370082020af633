import type { Logger } from '@packhouse/runtime';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { databaseAddress, databaseError } from '../connection/database-error.js';
import { checkServer } from './check-server.js';
import { missingMigrations } from './compare-schema.js';
import { MIGRATIONS_FOLDER, migrationNames } from './migration-files.js';
import { selectApplied } from './select-applied.js';

/** Of the whole database, so that any number of processes may migrate at once. */
const LOCK = "SELECT pg_advisory_lock(hashtextextended('packhouse:migrate', 0))";

/**
 * Brings the schema up to this program's version, each migration in a transaction of its own.
 *
 * Safe to call from several processes at once: the others wait and then find nothing to do. Resolves to the
 * names of the migrations it applied. Throws DATABASE_NEWER, DATABASE_UNAVAILABLE, DISK_FULL.
 */
export async function migrate(options: {
  connectionString: string;
  logger?: Logger;
  /** Default: the migrations of this repository. */
  folder?: string;
}): Promise<string[]> {
  const folder = options.folder ?? MIGRATIONS_FOLDER;
  const client = new pg.Client({
    connectionString: options.connectionString,
    application_name: 'packhouse migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const server = await client.query<{ version: string }>(
      "SELECT current_setting('server_version_num') AS version",
    );
    checkServer(Number(server.rows[0]?.version), databaseAddress(options.connectionString));
    await client.query(LOCK);
    const missing = missingMigrations(await selectApplied(client), await migrationNames(folder));
    if (missing.length === 0) return [];
    // Not `CREATE SCHEMA IF NOT EXISTS`: that needs the right to create schemas even where there is one.
    const schema = await client.query("SELECT to_regnamespace('packhouse') IS NOT NULL AS there");
    if (schema.rows[0]?.there !== true) await client.query('CREATE SCHEMA packhouse');
    const silent = (): void => {};
    const applied = await runner({
      dbClient: client,
      dir: folder,
      ignorePattern: '(?!\\d{4}_).*',
      migrationsSchema: 'packhouse',
      migrationsTable: 'migration',
      direction: 'up',
      singleTransaction: false,
      noLock: true, // ours covers the comparison above as well
      logger: { debug: silent, info: silent, warn: silent, error: silent },
    });
    const names = applied.map((migration) => migration.name);
    options.logger?.info({ migrations: names }, 'database schema brought up to date');
    return names;
  } catch (error) {
    throw databaseError(error, options.connectionString);
  } finally {
    await client.end().catch(() => {});
  }
}
