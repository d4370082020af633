import type { ListedKey } from '@packhouse/database';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import type { OperationParts } from '../operation/operation.js';
import { isInScope } from '../operation/own-scope.js';

/** A key by its public prefix, its ID, or its SHA-256 in hex: never the secret itself. */
export const keyField = z
  .string()
  .regex(/^(?:ph_[A-Za-z0-9]{8}|\d{1,20}|[0-9a-f]{64})$/, 'takes a prefix, an ID, or a SHA-256 in hex')
  .describe('a key: its prefix (ph_ and 8 letters or digits), its ID, or its SHA-256 in hex');

/** Throws KEY_UNKNOWN, also for keys of others if the actor is an owner. */
export async function findKey(parts: OperationParts, name: string): Promise<ListedKey> {
  const whole = name.length === 64;
  const { find, named } = parts.database.keys;
  const prefix = whole ? (await find(Buffer.from(name, 'hex')))?.prefix : name;
  const row = prefix === undefined ? null : await named(prefix);
  if (row !== null && isInScope(parts, row.owner)) return row;
  fail(
    'KEY_UNKNOWN',
    whole ? 'Unknown key.' : `Unknown key "${name}".`,
    'See `packhouse keys list` for the prefixes.',
  );
}
