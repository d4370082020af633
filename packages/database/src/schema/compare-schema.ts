import { PackhouseError } from '@packhouse/runtime';

const SHOWN = 3;

/** What a database says of its schema. */
export interface AppliedSchema {
  /** Names of the migrations it has, in the order they were applied. */
  migrations: readonly string[];
  /** The migration that asks for the newest programs, and the schema version it asks for; null: none does. */
  breaking: { migration: string; minimum: number } | null;
}

/** The schema version of a program: the number of the newest migration that it brings; 0 where it brings none. */
export function schemaVersion(known: readonly string[]): number {
  return Math.max(0, ...known.map((name) => Number.parseInt(name, 10)));
}

/**
 * Compares the migrations that the database has with those that this program brings; returns the missing ones.
 *
 * Migrations that a newer version applied do no harm unless one of them is declared breaking: old and new programs
 * run on one database while they are replaced one by one. Throws DATABASE_NEWER where one is, and where the database
 * both has unknown migrations and lacks known ones, which no order of versions can bring about.
 */
export function missingMigrations(applied: AppliedSchema, known: readonly string[]): string[] {
  const unknown = applied.migrations.filter((name) => !known.includes(name));
  const missing = known.filter((name) => !applied.migrations.includes(name));
  const version = schemaVersion(known);
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
