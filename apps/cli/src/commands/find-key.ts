import { createHash } from 'node:crypto';
import { isWholeKey } from '@packhouse/client';
import type { Database, KeyRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';

/** The public prefix of a key, or its number. */
const PUBLIC = /^(?:ph_[A-Za-z0-9]{8}|\d+)$/;

/**
 * Finds the key that a command names by its public prefix, its number, or whole. Anything before or behind is refused:
 * it may be another key than the one meant. Throws USAGE, KEY_UNKNOWN, which never repeat a secret.
 */
export async function findKey(database: Database, name: string): Promise<KeyRow> {
  const whole = isWholeKey(name);
  if (!whole && !PUBLIC.test(name)) {
    const begins = /^ph_[A-Za-z0-9]{8}/.exec(name)?.[0];
    const got = begins === undefined ? 'something else' : `${begins} with something else behind it`;
    throw new PackhouseError({
      code: 'USAGE',
      message: `A key is named by its prefix (ph_ and 8 letters or digits), by its number, or whole, and this is ${got}.`,
      hint: 'See `packhouse keys list` for the prefixes.',
    });
  }
  const row = whole
    ? await database.keys.find(createHash('sha256').update(name).digest())
    : (await database.keys.list()).find(({ prefix, id }) => prefix === name || String(id) === name);
  if (row) return row;
  throw new PackhouseError({
    code: 'KEY_UNKNOWN',
    message: whole
      ? `There is no such whole key as the one given, which begins with ${name.slice(0, 11)}.`
      : `There is no key "${name}".`,
    hint: 'See `packhouse keys list` for the prefixes.',
  });
}
