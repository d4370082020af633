import {
  type Database,
  formatDay,
  type KeyRow,
  parseDay,
  parseSince,
  USAGE_GROUPS,
  type UsageSum,
} from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { findKey, keyField } from './find-key.js';
import { type OperationParts, operation } from './operation.js';

const DAY_MS = 86_400_000;

/** The days that sums are asked of, and what by. */
export const usageFields = {
  since: z
    .string()
    .refine((text) => parseSince(text, 0) !== null, 'takes a day, e.g. 2026-11-01, or so many, e.g. 30d')
    .default('7d')
    .describe('first day (UTC), or so many days'),
  until: z
    .string()
    .refine((text) => parseDay(text) !== null, 'takes a day, e.g. 2026-11-22')
    .optional()
    .describe('last day (UTC); default: today'),
  by: z.enum(USAGE_GROUPS).default('day'),
};

export const keyUsage = operation({
  name: 'keys/usage',
  kind: 'read',
  role: 'viewer',
  summary: 'What keys used: requests, units, errors and bytes sent, by key, day, method or network.',
  input: z.object({
    key: keyField.optional(),
    application: z.string().min(1).max(100).optional().describe('only the keys of this application'),
    ...usageFields,
  }),
  run: async ({ database, context }, { key, application, ...asked }) => {
    const one = key === undefined ? undefined : await findKey(database, key);
    const keys =
      one === undefined && application === undefined ? undefined : await chosen(database, one, application);
    const usage = await sumUsage({ database, context }, asked, keys);
    const applications =
      asked.by === 'key'
        ? new Map((keys ?? (await database.keys.list())).map((row) => [row.prefix, row.application]))
        : null;
    const rows = usage.rows.map((row) => ({
      ...row,
      ...(applications === null ? {} : { application: applications.get(row.name) ?? null }),
    }));
    return { ...usage, rows };
  },
});

/** Sums of these keys, or of all. Throws INPUT_INVALID if the days are reversed. */
export async function sumUsage(
  { database, context }: Pick<OperationParts, 'database' | 'context'>,
  { since, until, by }: { since: string; until?: string | undefined; by: (typeof USAGE_GROUPS)[number] },
  keys?: readonly Pick<KeyRow, 'id'>[],
): Promise<{ since: string; until: string; rows: UsageSum[] }> {
  const last = (until === undefined ? null : parseDay(until)) ?? today(context);
  const first = parseSince(since, last) ?? last;
  if (first > last) {
    throw new PackhouseError({
      code: 'INPUT_INVALID',
      message: `since is ${formatDay(first)}, after the last day, which is ${formatDay(last)}.`,
    });
  }
  const keyIds = keys?.map(({ id }) => id);
  const rows = await database.usage.sums({
    ...{ since: first, until: last, by },
    ...(keyIds === undefined ? {} : { keyIds }),
  });
  return { since: formatDay(first), until: formatDay(last), rows };
}

/** The day in UTC, since 1970-01-01. */
export function today({ clock }: OperationParts['context']): number {
  return Math.floor(clock.now() / DAY_MS);
}

async function chosen(
  database: Database,
  key: KeyRow | undefined,
  application: string | undefined,
): Promise<readonly KeyRow[]> {
  const rows = key === undefined ? await database.keys.list({ search: application ?? '' }) : [key];
  const found = rows.filter((row) => application === undefined || row.application === application);
  if (found.length > 0) return found;
  throw new PackhouseError({
    code: 'KEY_UNKNOWN',
    message: `There is no key ${key === undefined ? '' : `"${key.prefix}" `}of an application "${application}".`,
    hint: 'See `packhouse keys list` for the prefixes and applications.',
  });
}
