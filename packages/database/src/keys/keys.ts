import { PackhouseError } from '@packhouse/runtime';
import type { Connections } from '../connection/connections.js';
import type { Database } from '../database.js';
import { deleteOldUsage } from './delete-old-usage.js';
import { insertKey } from './insert-key.js';
import { keyOf, planOf, type StoredKey, type StoredPlan } from './key-row.js';
import { makeKey } from './make-key.js';
import { revokeKey } from './revoke-key.js';
import { selectKey } from './select-key.js';
import { selectKeys } from './select-keys.js';
import { selectPlans } from './select-plans.js';
import { upsertUsage } from './upsert-usage.js';

/** `ph_` and 8 letters and digits, alone or at the head of a whole key. */
const PREFIX = /^ph_[A-Za-z0-9]{8}(?=_|$)/;
/** Ids are int8; 15 digits are always safe numbers. */
const ID = /^\d{1,15}$/;

/** The part `keys` of the database. */
export function createKeys(connections: Connections): Database['keys'] {
  const plans = async () => (await connections.query<StoredPlan>(selectPlans, [])).map(planOf);
  return {
    create: async ({ application, network, plan, expiresAt = null, ...only }) => {
      const { key, prefix, sha256 } = makeKey();
      const { origins = [], addresses = [], methods = [] } = only;
      const values = [application, plan, network, prefix, sha256, expiresAt, origins, addresses, methods];
      const [row] = await connections.query<StoredKey>(insertKey, values);
      if (row !== undefined) return { key, row: keyOf(row) };
      throw new PackhouseError({
        code: 'PLAN_UNKNOWN',
        message: `There is no plan "${plan}".`,
        hint: `Plans are ${(await plans()).map(({ name }) => name).join(', ')}.`,
        data: { plan },
      });
    },
    find: async (sha256) => (await connections.query<StoredKey>(selectKey, [sha256])).map(keyOf)[0] ?? null,
    list: async () => (await connections.query<StoredKey>(selectKeys, [])).map(keyOf),
    revoke: async (idOrPrefix) => {
      const id = ID.test(idOrPrefix) ? Number(idOrPrefix) : null;
      const prefix = PREFIX.exec(idOrPrefix)?.[0] ?? null;
      return (await connections.query<StoredKey>(revokeKey, [id, prefix])).map(keyOf)[0] ?? null;
    },
    plans,
    use: async (day, uses) => {
      const rows = await connections.query<{ key_id: number; requests: number }>(upsertUsage, [
        uses.map(({ keyId }) => keyId),
        day,
        uses.map(({ requests }) => requests),
      ]);
      return new Map(rows.map((row) => [row.key_id, row.requests]));
    },
    forgetUses: async (before) => {
      await connections.query(deleteOldUsage, [before]);
    },
  };
}
