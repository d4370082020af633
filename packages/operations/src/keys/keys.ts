import { type ListedKey, withLock } from '@packhouse/database';
import { z } from 'zod';
import { applicationField, findApplication, newApplicationField } from '../applications/find-application.js';
import { fail } from '../operation/fail.js';
import { checkFuture, dateField, limitField, networkField, numberField } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';
import { getOwnScope } from '../operation/own-scope.js';
import { requireAdmin } from '../operation/require-admin.js';
import { findKey, keyField } from './find-key.js';
import { parseRestrictions, restrictionFields } from './key-restrictions.js';
import { isUnlimited } from './plans.js';

/** A key as it is shown. */
export type PublicKey = Omit<ListedKey, 'plan'> & { plan: string };

/** Keys that an operator who is no admin may create within a day. */
const KEYS_PER_DAY = 20;

export const listKeys = read({
  name: 'keys',
  role: 'viewer',
  owners: true,
  summary:
    'API keys by their public prefixes, oldest first, a page at a time; owners see those of their applications.',
  input: z.object({
    search: z.string().min(1).max(100).optional().describe('part of the application, or start of the prefix'),
    application: applicationField.optional().describe('only keys of this application'),
    after: numberField(0, Number.MAX_SAFE_INTEGER).optional().describe('keys after this ID'),
    limit: limitField(100),
  }),
  run: async (parts, { search, application, after, limit }) => {
    const owner = getOwnScope(parts);
    const of = application === undefined ? undefined : (await findApplication(parts, application)).id;
    const asked = { search, after, limit: limit + 1, application: of, owner };
    const found = await parts.database.keys.list(asked);
    return { rows: found.slice(0, limit).map(toPublicKey), more: found.length > limit };
  },
});

export const createKey = change({
  name: 'keys/create',
  role: 'operator',
  summary: 'Creates an API key, which is shown only once.',
  input: z.object({
    application: newApplicationField.describe('its application; created if unknown'),
    plan: z.string().min(1).max(64).default('standard').describe('the plan with its limits'),
    network: networkField.nullish().describe('the only network it opens; default: all'),
    expiresAt: dateField.nullish().describe('when it expires; default: never'),
    ...restrictionFields,
  }),
  run: async (parts, { application, plan, network, expiresAt, maxLogRange, ...given }) => {
    checkFuture(parts.context, 'expiresAt', expiresAt);
    const only = parseRestrictions({
      origin: given.origins,
      address: given.addresses,
      method: given.methods,
      contract: given.contracts,
    });
    const chosen = (await parts.database.plans.list()).find(({ name }) => name === plan);
    if (chosen !== undefined && isUnlimited(chosen)) {
      requireAdmin(parts, `Only admins create keys of the plan "${plan}", which is unlimited.`);
    }
    return withinQuota(parts, async () => {
      const { key, row } = await parts.database.keys.create({
        application,
        plan,
        network: network ?? null,
        expiresAt: expiresAt ?? null,
        maxLogRange: maxLogRange ?? null,
        ...only,
      });
      await noteChange(parts, `key ${row.prefix}`, 'create', null, toPublicKey(row));
      return { apiKey: key, ...toPublicKey(row) };
    });
  },
});

/** Creates a key, if its creator is an admin or has created fewer than so many within a day. Throws KEYS_SPENT. */
async function withinQuota<T extends object>(parts: OperationParts, create: () => Promise<T>): Promise<T> {
  const { actor, database, role = 'admin' } = parts;
  if (role === 'admin') return create();
  // One at a time: concurrent ones would all count the same keys.
  const made = await withLock(database, `keys:${actor}`, undefined, async () => {
    const keys = await database.changes.newKeys(actor);
    if (keys < KEYS_PER_DAY) return create();
    fail(
      'KEYS_SPENT',
      `${actor} has created ${keys} keys within a day; the limit of operators is ${KEYS_PER_DAY}.`,
      'Ask an admin.',
    );
  });
  return made ?? fail('KEYS_SPENT', `Another key of ${actor} is being created.`, 'Retry.');
}

export const revokeKey = change({
  name: 'keys/revoke',
  role: 'operator',
  owners: true,
  summary: 'Revokes an API key: gateways reject it within a second.',
  input: z.object({ key: keyField }),
  run: async (parts, { key }) => {
    const before = await findKey(parts, key);
    const row = await parts.database.keys.revoke(before.prefix);
    if (row === null) {
      fail('KEY_UNKNOWN', `Unknown key "${before.prefix}".`);
    }
    const { revokedAt } = row;
    if (before.revokedAt === null)
      await noteChange(parts, `key ${row.prefix}`, 'revoke', null, { revokedAt });
    return toPublicKey(row);
  },
});

export function toPublicKey({ plan, ...row }: ListedKey): PublicKey {
  return { ...row, plan: plan.name };
}
