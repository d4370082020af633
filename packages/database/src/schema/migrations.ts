import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PackhouseError } from '@packhouse/runtime';
import type pg from 'pg';

/** Most migration names that an error lists. */
const SHOWN = 3;

/** The folder of numbered SQL files: of this package, where it is a link to the repository's. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../migrations', import.meta.url));

const NUMBERED = /^\d{4}_[a-z0-9_]+\.sql$/;

/** The migrations' names (file names without `.sql`) in their order. */
export async function migrationNames(folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => NUMBERED.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

/** Hex SHA-256 of all migrations: equal digests mean equal schemas. */
export async function migrationsDigest(): Promise<string> {
  const digest = createHash('sha256');
  for (const name of await migrationNames()) {
    digest.update(`${name}\n`).update(await readFile(path.join(MIGRATIONS_FOLDER, `${name}.sql`)));
  }
  return digest.digest('hex');
}

/** The schema of a database as its tables describe it. */
interface AppliedSchema {
  /** Names of the migrations it has, in the order they were applied. */
  migrations: readonly string[];
  /** The migration that asks for the newest programs, and the schema version it asks for; null: none does. */
  breaking: { migration: string; minimum: number } | null;
}

/**
 * Reads the table of applied migrations and their declarations; empty if there is no table yet. Throws DATABASE_OLDER if
 * a build before the first release made the schema.
 */
export async function readApplied(client: pg.ClientBase | pg.Pool): Promise<AppliedSchema> {
  const { rows } = await client.query<{ ledger: boolean; declared: boolean; unreleased: boolean }>(
    `SELECT to_regclass('packhouse.migration') IS NOT NULL AS ledger,
       to_regclass('packhouse.compatibility') IS NOT NULL AS declared,
       to_regclass('packhouse.wanted_range') IS NOT NULL AS unreleased`,
  );
  if (rows[0]?.unreleased === true) {
    throw new PackhouseError({
      code: 'DATABASE_OLDER',
      message: 'The database schema was made by a build before the first release, and cannot be migrated.',
      hint: 'Set DATABASE_URL to an empty database, or run `DROP SCHEMA packhouse CASCADE` and backfill again.',
    });
  }
  if (rows[0]?.ledger !== true) return { migrations: [], breaking: null };
  const applied = await client.query<{ name: string }>('SELECT name FROM packhouse.migration ORDER BY id');
  const migrations = applied.rows.map((row) => row.name);
  if (!rows[0].declared) return { migrations, breaking: null };
  const breaking = await client.query<{ migration: string; minimum: number }>(
    'SELECT migration, minimum FROM packhouse.compatibility ORDER BY minimum DESC, migration LIMIT 1',
  );
  return { migrations, breaking: breaking.rows[0] ?? null };
}

/**
 * Compares the migrations that the database has with those of this program; returns the missing ones.
 *
 * Migrations of a newer version are accepted unless one of them is declared breaking: old and new programs share one
 * database while they are replaced one by one. Throws DATABASE_NEWER if one is breaking, and if the database both
 * has unknown migrations and lacks known ones, which no sequence of versions can produce.
 */
export function missingMigrations(applied: AppliedSchema, known: readonly string[]): string[] {
  const unknown = applied.migrations.filter((name) => !known.includes(name));
  const missing = known.filter((name) => !applied.migrations.includes(name));
  // The number of the newest migration that this program has.
  const version = Math.max(0, ...known.map((name) => Number.parseInt(name, 10)));
  if (applied.breaking !== null && applied.breaking.minimum > version) {
    const { migration, minimum } = applied.breaking;
    throw new PackhouseError({
      code: 'DATABASE_NEWER',
      message: `The database schema was changed by ${migration} so that programs need schema version ${minimum}, and this one has ${version}.`,
      hint: 'Run the newer version.',
      data: { ...applied.breaking, version },
    });
  }
  if (unknown.length > 0 && missing.length > 0) {
    throw new PackhouseError({
      code: 'DATABASE_NEWER',
      message: `The database schema was written by another version of Packhouse: it has ${shown(unknown)}, which this one does not know, and lacks ${shown(missing)}.`,
      hint: 'Run the version that wrote it, or a newer one.',
      data: { unknown, missing },
    });
  }
  return missing;
}

function shown(names: readonly string[]): string {
  return `${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''}`;
}
