import type { Database, KeyRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';

/** A key by its public prefix, its number, or the SHA-256 of the whole one in hex: never the secret itself. */
export const keyField = z
  .string()
  .regex(/^(?:ph_[A-Za-z0-9]{8}|\d{1,20}|[0-9a-f]{64})$/, 'takes a prefix, a number, or a SHA-256 in hex')
  .describe(
    'a key: its prefix (ph_ and 8 letters or digits), its number, or the SHA-256 of the whole in hex',
  );

/** Finds the key that was named in one of these ways. Throws KEY_UNKNOWN. */
export async function findKey(database: Database, name: string): Promise<KeyRow> {
  const whole = name.length === 64;
  const row = whole ? await database.keys.find(Buffer.from(name, 'hex')) : await database.keys.named(name);
  if (row !== null) return row;
  throw new PackhouseError({
    code: 'KEY_UNKNOWN',
    message: whole ? 'There is no such whole key as the one that was given.' : `There is no key "${name}".`,
    hint: 'See `packhouse keys list` for the prefixes.',
  });
}
