import {
  type Database,
  formatDay,
  type KeyRow,
  parseDay,
  parseSince,
  USAGE_GROUPS,
  type UsageSum,
} from '@packhouse/database';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { getToday, sinceField } from '../operation/fields.js';
import { type OperationParts, read } from '../operation/operation.js';
import { invalidInput } from '../operation/read-input.js';
import { findKey, keyField } from './find-key.js';

/** The days of a report, and its groups. */
export const usageFields = {
  since: sinceField,
  until: z
    .string()
    .refine((text) => parseDay(text) !== null, 'takes a day, e.g. 2026-11-22')
    .optional()
    .describe('last day (UTC); default: today'),
  by: z.enum(USAGE_GROUPS, `takes ${USAGE_GROUPS.join(', ')}`).default('day'),
};

export const keyUsage = read({
  name: 'keys/usage',
  role: 'viewer',
  summary: 'Usage of keys: requests, units, errors and bytes sent, by key, day, method or network.',
  input: z.object({
    key: keyField.optional(),
    application: z.string().min(1).max(100).optional().describe('only keys of this application'),
    ...usageFields,
  }),
  run: async ({ database, context }, { key, application, ...asked }) => {
    const one = key === undefined ? undefined : await findKey(database, key);
    const keys =
      one === undefined && application === undefined ? undefined : await findKeys(database, one, application);
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
  const last = (until === undefined ? null : parseDay(until)) ?? getToday(context);
  const first = parseSince(since, last) ?? last;
  if (first > last) {
    const message = `is ${formatDay(first)}, after the last day, which is ${formatDay(last)}`;
    throw invalidInput([{ name: 'since', message }]);
  }
  const keyIds = keys?.map(({ id }) => id);
  const rows = await database.usage.sums({
    since: first,
    until: last,
    by,
    keyIds,
  });
  return { since: formatDay(first), until: formatDay(last), rows };
}

async function findKeys(
  database: Database,
  key: KeyRow | undefined,
  application: string | undefined,
): Promise<readonly KeyRow[]> {
  const rows = key === undefined ? await database.keys.list({ search: application ?? '' }) : [key];
  const found = rows.filter((row) => application === undefined || row.application === application);
  if (found.length > 0) return found;
  fail(
    'KEY_UNKNOWN',
    `Unknown key ${key === undefined ? '' : `"${key.prefix}" `}of application "${application}".`,
    'See `packhouse keys list` for the prefixes and applications.',
  );
}
