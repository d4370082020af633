import { PackhouseError } from '@packhouse/runtime';

const SHOWN = 3;

/**
 * Compares the migrations that the database has with those that this program brings; returns the missing ones.
 *
 * Throws DATABASE_NEWER where the database has one that this program does not know.
 */
export function missingMigrations(applied: readonly string[], known: readonly string[]): string[] {
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new PackhouseError({
      code: 'DATABASE_NEWER',
      message: `The database schema was written by a newer version of Packhouse: it has ${unknown.slice(0, SHOWN).join(', ')}, and the newest this one knows is ${known.at(-1) ?? 'none'}.`,
      hint: 'Run the newer version.',
      data: { unknown },
    });
  }
  return known.filter((name) => !applied.includes(name));
}
