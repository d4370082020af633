import { formatDay, parseSince, USAGE_PARTS, type UsagePart } from '@packhouse/database';
import { z } from 'zod';
import { getToday, sinceField } from '../operation/fields.js';
import { type OperationParts, read } from '../operation/operation.js';
import { findOwnKey } from './own.js';
import { findSubject, subjectFields } from './subject-keys.js';

/** Methods or networks that are told apart; the rest is one sum. */
const MAX_NAMED = 3;
const MAX_DAYS = 400;

const fields = {
  since: sinceField,
  of: z.enum(USAGE_PARTS, `takes ${USAGE_PARTS.join(', ')}`).default('method'),
};

export const keyUsageSeries = read({
  name: 'keys/usage/series',
  role: 'viewer',
  owners: true,
  sharedForMs: 1_000,
  summary:
    'Units of an API key, or of all keys of an application, by day: of the most used methods or networks, and of the others together.',
  input: z.object({ ...subjectFields, ...fields }),
  run: async (parts, { key, application, ...asked }) =>
    getSeries(parts, (await findSubject(parts, { key, application })).ids, asked),
});

export const ownUsageSeries = read({
  name: 'own/usage/series',
  role: 'owner',
  sharedForMs: 1_000,
  summary:
    'Units of the key that signed in by day, of its most used methods or networks, and of the others together.',
  input: z.object(fields),
  run: async (parts, asked) => getSeries(parts, [(await findOwnKey(parts)).id], asked),
});

async function getSeries(
  { database, context }: OperationParts,
  keyIds: readonly number[],
  { since, of }: { since: string; of: (typeof USAGE_PARTS)[number] },
) {
  const until = getToday(context);
  const first = Math.max(until - MAX_DAYS, Math.min(until, parseSince(since, until) ?? until));
  const rows = await database.usage.parts({ keyIds, since: first, until, of });
  return toSeries(rows, first, until);
}

/** One value per day and series, the most used first, days without use included; `name` null: all others. */
export function toSeries(rows: readonly UsagePart[], first: number, last: number) {
  const totals = new Map<string, number>();
  for (const { name, units } of rows) totals.set(name, (totals.get(name) ?? 0) + units);
  const named = [...totals]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, MAX_NAMED)
    .map(([name]) => name);
  const others = totals.size > named.length ? [null] : [];
  const series = [...named, ...others].map((name) => ({
    name,
    units: Array.from({ length: last - first + 1 }, () => 0),
  }));
  for (const { day, name, units } of rows) {
    const values = (series.find((each) => each.name === name) ?? series.at(-1))?.units ?? [];
    values[day - first] = (values[day - first] ?? 0) + units;
  }
  return { days: Array.from({ length: last - first + 1 }, (_, at) => formatDay(first + at)), series };
}
