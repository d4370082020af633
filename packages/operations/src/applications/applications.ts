import type { ApplicationTerms } from '@packhouse/database';
import { z } from 'zod';
import { expectedField, refuseChanged } from '../operation/changed-meanwhile.js';
import { fail } from '../operation/fail.js';
import { flagField, limitField, numberField, withoutUndefined } from '../operation/fields.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';
import { getOwnScope, refuseOfOwner } from '../operation/own-scope.js';
import { applicationField, findApplication, newApplicationField } from './find-application.js';

const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most, `takes at most ${most} characters`)
    .regex(/^[^\p{Cc}]*$/u, 'takes no control characters');
const terms = {
  owner: z.string().min(1).max(200).nullable().optional().describe('the account that manages it; null: none'),
  description: line(1_000).optional().describe('what it is for'),
  contact: line(200).optional().describe('whom operators ask: an address, a channel, a team'),
};

export const listApplications = read({
  name: 'applications',
  role: 'viewer',
  owners: true,
  summary:
    'Applications with their live keys and their last use, oldest first, a page at a time; owners see theirs.',
  input: z.object({
    search: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('part of the name, or start of the prefix of a key'),
    owner: z.string().min(1).max(200).optional().describe('only those of this account'),
    archived: flagField.optional().describe('archived ones too'),
    after: numberField(0, Number.MAX_SAFE_INTEGER).optional().describe('applications after this ID'),
    limit: limitField(100),
  }),
  run: async (parts, { search, owner, archived = false, after, limit }) => {
    const scope = getOwnScope(parts);
    if (scope !== undefined && owner !== undefined && owner !== scope) return { rows: [], more: false };
    const rows = await parts.database.applications.list({
      search,
      owner: scope ?? owner,
      archived,
      after,
      limit: limit + 1,
    });
    return { rows: rows.slice(0, limit), more: rows.length > limit };
  },
});

export const showApplication = read({
  name: 'applications/show',
  role: 'viewer',
  owners: true,
  summary: 'One application.',
  input: z.object({ application: applicationField }),
  run: (parts, { application }) => findApplication(parts, application),
});

export const addApplication = change({
  name: 'applications/add',
  role: 'operator',
  summary: 'Creates an application, which gets keys by `keys/create`.',
  input: z.object({ name: newApplicationField.describe('its name, which does not change'), ...terms }),
  run: async (parts, { name, owner = null, description = '', contact = '' }) => {
    await requireAccount(parts, owner);
    const row = await parts.database.applications.add({ name, owner, description, contact });
    if (row === null) await failExists(parts, name);
    await noteChange(parts, `application ${name}`, 'add', null, { owner, description, contact });
    return row ?? findApplication(parts, name);
  },
});

export const setApplication = change({
  name: 'applications/set',
  role: 'operator',
  owners: true,
  summary: 'Changes description and contact of an application; operators also change its owner.',
  input: z.object({
    application: applicationField,
    ...terms,
    expected: expectedField(terms),
  }),
  run: async (parts, { application, expected, ...given }) => {
    refuseOfOwner(parts, { owner: given.owner });
    await requireAccount(parts, given.owner ?? null);
    const found = await findApplication(parts, application);
    let before: ApplicationTerms | null = null;
    const row = await parts.database.applications.change(found.id, ({ owner, description, contact }) => {
      before = { owner, description, contact };
      refuseChanged(`Application "${found.name}"`, { ...before }, expected);
      return { ...before, ...withoutUndefined(given) };
    });
    if (row === null) return findApplication(parts, application);
    const { owner, description, contact } = row;
    await noteChange(parts, `application ${row.name}`, 'set', before, { owner, description, contact });
    return row;
  },
});

export const archiveApplication = change({
  name: 'applications/archive',
  role: 'operator',
  owners: true,
  summary: 'Archives an application and revokes all its keys: gateways reject them within a second.',
  input: z.object({ application: applicationField }),
  run: async (parts, { application }) => {
    const { id, name, archivedAt } = await findApplication(parts, application);
    const revoked = await parts.database.applications.archive(id);
    const row = await findApplication(parts, name);
    if (archivedAt === null)
      await noteChange(parts, `application ${name}`, 'archive', null, { revoked: revoked.length });
    for (const prefix of revoked)
      await noteChange(parts, `key ${prefix}`, 'revoke', null, { revokedAt: row.archivedAt });
    return { ...row, revoked: revoked.length };
  },
});

export const restoreApplication = change({
  name: 'applications/restore',
  role: 'operator',
  summary: 'Takes an archived application back into use; its keys stay revoked.',
  input: z.object({ application: applicationField }),
  run: async (parts, { application }) => {
    const { id, name, archivedAt } = await findApplication(parts, application);
    await parts.database.applications.restore(id);
    if (archivedAt !== null)
      await noteChange(parts, `application ${name}`, 'restore', { archivedAt }, { archivedAt: null });
    return findApplication(parts, name);
  },
});

/** Throws OPERATOR_UNKNOWN unless it is an account; null: nobody. */
async function requireAccount({ database }: OperationParts, owner: string | null): Promise<void> {
  if (owner === null || (await database.operators.find(owner)) !== null) return;
  fail('OPERATOR_UNKNOWN', `Unknown account "${owner}".`, 'Create it with `packhouse operators add`.');
}

/** Throws APPLICATION_EXISTS: with its owner, as the two may be the same team. */
async function failExists({ database }: OperationParts, name: string): Promise<never> {
  const { owner = null, archivedAt = null } = (await database.applications.named(name)) ?? {};
  const whose = owner === null ? 'has no owner' : `belongs to ${owner}`;
  fail(
    'APPLICATION_EXISTS',
    `Application "${name}" exists already and ${whose}.`,
    archivedAt === null
      ? 'Take another name, or change that one.'
      : 'It is archived: restore it, or take another name.',
  );
}
