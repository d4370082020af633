import type { KeyRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { sumUsage, today, usageFields } from './key-usage.js';
import { publicKey } from './keys.js';
import { type OperationParts, operation } from './operation.js';
import { limitsOf } from './plans.js';

export const ownUsage = operation({
  name: 'own/usage',
  kind: 'read',
  role: 'owner',
  sharedForMs: 1_000,
  summary: 'What the key that signed in used, by day, method or network.',
  input: z.object(usageFields),
  run: async (parts, asked) => sumUsage(parts, asked, [await ownKey(parts)]),
});

export const ownLimits = operation({
  name: 'own/limits',
  kind: 'read',
  role: 'owner',
  sharedForMs: 1_000,
  summary: 'The limits of the key that signed in, and what is used of them.',
  input: z.object({}),
  run: async (parts) => {
    const key = await ownKey(parts);
    const { inDay, inMonth } = await parts.database.usage.units(key.id, today(parts.context));
    return {
      ...publicKey(key),
      limits: limitsOf(key.plan),
      used: { unitsInDay: inDay, unitsInMonth: inMonth },
    };
  },
});

export const ownNetworks = operation({
  name: 'own/networks',
  kind: 'read',
  role: 'owner',
  summary: 'The networks that the key that signed in opens, with the addresses of each where they are known.',
  input: z.object({}),
  run: async (parts) => {
    const key = await ownKey(parts);
    const rows = await parts.database.networks.list();
    const configured = new Map((parts.networks?.() ?? []).map((network) => [network.id, network]));
    return rows
      .filter(({ id }) => key.network === null || key.network === id)
      .map(({ id, chainId }) => {
        const { family, baseUrl } = configured.get(id) ?? {};
        const address = parts.gatewayUrl === undefined ? null : `${parts.gatewayUrl}/${id}`;
        const jsonRpc = baseUrl ?? (address === null ? null : `${address}/v1/`);
        return { id, chainId, family: family ?? null, address, jsonRpc };
      });
  },
});

/** The key that its holder signed in with. Throws KEY_UNKNOWN if an operator asks. */
async function ownKey({ database, keyId, who }: OperationParts): Promise<KeyRow> {
  const row = typeof keyId === 'number' ? await database.keys.named(String(keyId)) : null;
  if (row !== null) return row;
  throw new PackhouseError({
    code: 'KEY_UNKNOWN',
    message: `${who} did not sign in with an API key, and has no usage of his own.`,
    hint: 'Sign in with a key, or ask for the usage of one by its prefix.',
  });
}
