import { createHash } from 'node:crypto';
import { isWholeKey } from '@packhouse/client';
import { PackhouseError } from '@packhouse/runtime';

/** The public prefix of a key, or its number. */
const PUBLIC = /^(?:ph_[A-Za-z0-9]{8}|\d{1,20})$/;

/**
 * A key that a command names by its public prefix, its number, or whole, as operations take it: a whole one as its
 * SHA-256. Anything before or behind is refused: it may be another key than the one meant. Throws USAGE, which never
 * repeats a secret.
 */
export function keyName(name: string): string {
  if (isWholeKey(name)) return createHash('sha256').update(name).digest('hex');
  if (PUBLIC.test(name)) return name;
  const begins = /^ph_[A-Za-z0-9]{8}/.exec(name)?.[0];
  const got = begins === undefined ? 'something else' : `${begins} with something else behind it`;
  throw new PackhouseError({
    code: 'USAGE',
    message: `A key is named by its prefix (ph_ and 8 letters or digits), by its number, or whole, and this is ${got}.`,
    hint: 'See `packhouse keys list` for the prefixes.',
  });
}
