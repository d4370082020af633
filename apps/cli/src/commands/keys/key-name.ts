import { createHash } from 'node:crypto';
import { isApiKey } from '@packhouse/runtime';
import { usageError } from '../../terminal/parse.js';

/** The public prefix of a key, or its number. */
const PUBLIC = /^(?:ph_[A-Za-z0-9]{8}|\d{1,20})$/;

/**
 * A key that a command names by its public prefix, its number, or whole, as operations take it: a whole one as its
 * SHA-256. Anything before or behind is refused: it may be another key than the one meant. Throws USAGE, which never
 * repeats a secret.
 */
export function keyName(name: string): string {
  if (isApiKey(name)) return createHash('sha256').update(name).digest('hex');
  if (PUBLIC.test(name)) return name;
  const begins = /^ph_[A-Za-z0-9]{8}/.exec(name)?.[0];
  const got = begins === undefined ? 'something else' : `${begins} and something else`;
  throw usageError(
    `A key is named by its prefix (ph_ and 8 letters or digits), by its number, or whole, got ${got}.`,
    'See `packhouse keys list` for the prefixes.',
  );
}

/** The argument of commands on one key. */
export const KEY = [
  '<key>',
  'Prefix (ph_ and 8 characters), number, or whole key',
  { read: keyName },
] as const;
