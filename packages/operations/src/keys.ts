import type { KeyRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { dateField, limitField, networkField, numberField } from './fields.js';
import { findKey, keyField } from './find-key.js';
import { parseRestrictions } from './key-restrictions.js';
import { noteChange } from './note-change.js';
import { operation } from './operation.js';

/** A key as it may be shown. */
export type PublicKey = Omit<KeyRow, 'plan'> & { plan: string };

const values = z.array(z.string().max(300)).max(1_000);

export const listKeys = operation({
  name: 'keys',
  kind: 'read',
  role: 'viewer',
  summary: 'API keys by their public prefixes, oldest first, a page at a time.',
  input: z.object({
    search: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('part of the application, or the beginning of the prefix'),
    after: numberField(0, Number.MAX_SAFE_INTEGER).optional().describe('the page begins after this id'),
    limit: limitField(100),
  }),
  run: async ({ database }, { search, after, limit }) => {
    const found = await database.keys.list({
      ...(search === undefined ? {} : { search }),
      ...(after === undefined ? {} : { after }),
      limit: limit + 1,
    });
    return { rows: found.slice(0, limit).map(publicKey), more: found.length > limit };
  },
});

export const createKey = operation({
  name: 'keys/create',
  kind: 'change',
  role: 'operator',
  summary: 'Makes an API key, which is shown only this once.',
  input: z.object({
    application: z
      .string()
      .trim()
      .regex(/^[\p{L}\p{N}\p{P}\p{S} ]{1,100}$/u, 'takes a name of 1 to 100 printable characters')
      .describe('who it is for; it is made if there is none of that name'),
    plan: z.string().min(1).max(64).default('standard').describe('its limits, by the name of a plan'),
    network: networkField.nullish().describe('the only network that it opens; without it all'),
    expiresAt: dateField
      .refine((date) => date.getTime() > Date.now(), 'takes a date in the future')
      .nullish()
      .describe('when it ends; without it never'),
    origins: values.optional().describe('the only browser origins that it works from'),
    addresses: values.optional().describe('the only client addresses that it works from, as CIDR blocks'),
    methods: values.optional().describe('the only methods; also bundle-api, download, nft, usage'),
  }),
  run: async (parts, { application, plan, network, expiresAt, origins, addresses, methods }) => {
    const only = parseRestrictions({ origin: origins, address: addresses, method: methods });
    const { key, row } = await parts.database.keys.create({
      ...{ application, plan, network: network ?? null, expiresAt: expiresAt ?? null, ...only },
    });
    await noteChange(parts, `key ${row.prefix}`, 'create', null, publicKey(row));
    return { apiKey: key, ...publicKey(row) };
  },
});

export const revokeKey = operation({
  name: 'keys/revoke',
  kind: 'change',
  role: 'operator',
  summary: 'Ends an API key: every gateway refuses it within a second.',
  input: z.object({ key: keyField }),
  run: async (parts, { key }) => {
    const before = await findKey(parts.database, key);
    const row = await parts.database.keys.revoke(before.prefix);
    if (row === null) {
      throw new PackhouseError({ code: 'KEY_UNKNOWN', message: `There is no key "${before.prefix}".` });
    }
    const { revokedAt } = row;
    if (before.revokedAt === null)
      await noteChange(parts, `key ${row.prefix}`, 'revoke', null, { revokedAt });
    return publicKey(row);
  },
});

export function publicKey({ plan, ...row }: KeyRow): PublicKey {
  return { ...row, plan: plan.name };
}
