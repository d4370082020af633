import type { ListedKey } from '@packhouse/database';
import { z } from 'zod';
import { describeNetworks } from '../operation/describe-networks.js';
import { fail } from '../operation/fail.js';
import { getToday } from '../operation/fields.js';
import { type OperationParts, read } from '../operation/operation.js';
import { sumUsage, usageFields } from './key-usage.js';
import { toPublicKey } from './keys.js';
import { getLimits } from './plans.js';

export const ownUsage = read({
  name: 'own/usage',
  role: 'owner',
  sharedForMs: 1_000,
  summary: 'Usage of the key that signed in, by day, method or network.',
  input: z.object(usageFields),
  run: async (parts, asked) => sumUsage(parts, asked, [(await findOwnKey(parts)).id]),
});

export const ownLimits = read({
  name: 'own/limits',
  role: 'owner',
  sharedForMs: 1_000,
  summary: 'The limits of the key that signed in, and their use.',
  run: async (parts) => {
    const key = await findOwnKey(parts);
    const { inDay, inMonth } = await parts.database.usage.units(key.id, getToday(parts.context));
    return {
      ...toPublicKey(key),
      limits: getLimits(key.plan),
      used: { unitsInDay: inDay, unitsInMonth: inMonth },
    };
  },
});

export const ownNetworks = read({
  name: 'own/networks',
  role: 'owner',
  summary: 'The networks of the key that signed in, with their URLs if known.',
  run: async (parts) => {
    const key = await findOwnKey(parts);
    const rows = await describeNetworks(parts);
    return rows.filter(({ id }) => key.network === null || key.network === id);
  },
});

/** The key that signed in. Throws KEY_UNKNOWN for an operator. */
export async function findOwnKey({ database, keyId, actor }: OperationParts): Promise<ListedKey> {
  const row = typeof keyId === 'number' ? await database.keys.named(String(keyId)) : null;
  if (row !== null) return row;
  fail(
    'KEY_UNKNOWN',
    `${actor} did not sign in with an API key.`,
    'Sign in with a key, or read the usage of one by its prefix.',
  );
}
