import { formatDay, parseDay, parseSince, USAGE_GROUPS, type UsageSum } from '@packhouse/database';
import { z } from 'zod';
import { getToday, sinceField } from '../operation/fields.js';
import { type OperationParts, read } from '../operation/operation.js';
import { getOwnScope } from '../operation/own-scope.js';
import { invalidInput } from '../operation/read-input.js';
import { findSubject, subjectFields } from './subject-keys.js';

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
  owners: true,
  summary:
    'Usage of keys: requests, units, errors and bytes sent, by key, day, method or network; owners see that of their applications.',
  input: z.object({ ...subjectFields, ...usageFields }),
  run: async (parts, { key, application, ...asked }) => {
    const isOne = key !== undefined || application !== undefined;
    return sumUsage(
      parts,
      asked,
      isOne ? (await findSubject(parts, { key, application })).ids : await getOwnIds(parts),
    );
  },
});

/** The keys of an owner's applications; undefined: the actor sees all. */
async function getOwnIds(parts: OperationParts): Promise<number[] | undefined> {
  const owner = getOwnScope(parts);
  return owner === undefined ? undefined : (await parts.database.keys.list({ owner })).map(({ id }) => id);
}

/** Sums of these keys, or of all. Throws INPUT_INVALID if the days are reversed. */
export async function sumUsage(
  { database, context }: Pick<OperationParts, 'database' | 'context'>,
  { since, until, by }: { since: string; until?: string | undefined; by: (typeof USAGE_GROUPS)[number] },
  keyIds?: readonly number[],
): Promise<{ since: string; until: string; rows: UsageSum[] }> {
  const last = (until === undefined ? null : parseDay(until)) ?? getToday(context);
  const first = parseSince(since, last) ?? last;
  if (first > last) {
    const message = `is ${formatDay(first)}, after the last day, which is ${formatDay(last)}`;
    throw invalidInput([{ name: 'since', message }]);
  }
  const rows = await database.usage.sums({ since: first, until: last, by, keyIds });
  return { since: formatDay(first), until: formatDay(last), rows };
}
