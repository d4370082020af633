import type { BlockRange } from '@packhouse/chain';
import { parseSince } from '@packhouse/database';
import { type Context, findUnclear, parseDate, toDay } from '@packhouse/runtime';
import { z } from 'zod';
import { fail } from './fail.js';
import { invalidInput } from './read-input.js';

/** The name of a network. */
export const networkField = z.string().min(1).max(64).describe('a network, as the networks file names it');

/** The name of somebody or something new, of so many characters: see findUnclear. */
export const newNameField = (most: number) =>
  z
    .string()
    .min(1, `takes a name of 1 to ${most} characters`)
    .max(most, `takes a name of 1 to ${most} characters`)
    .superRefine((name, { addIssue }) => {
      const unclear = findUnclear(name);
      if (unclear !== null) addIssue({ code: 'custom', message: `takes no ${unclear}` });
    });

/** A whole number, also as text, which may have underscores and commas. */
export const numberField = (min: number, max: number) => {
  const error = `takes a whole number from ${min} to ${max}`;
  return z.preprocess(
    (value) =>
      typeof value === 'string' && /^\d[\d_,]*$/.test(value) ? Number(value.replace(/[_,]/g, '')) : value,
    z.number(error).int(error).min(min, error).max(max, error),
  );
};

/** The number of a block. */
export const blockField = numberField(0, Number.MAX_SAFE_INTEGER);

/** Rows per page. */
export const limitField = (usual: number, most = 10_000) => numberField(1, most).default(usual);

/** true or false, also as text. */
export const flagField = z.preprocess(
  (value) => (value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value),
  z.boolean(),
);

/** A point in time as ISO text with its offset; a day alone begins at 0:00 UTC. */
export const dateField = z
  .preprocess(
    (value) => (typeof value === 'string' ? parseDate(value) : value),
    z.date('takes a date such as 2026-11-22 or 2026-11-22T18:00Z'),
  )
  .meta({ type: 'string', format: 'date-time' });

/** Throws INPUT_INVALID if the date is in the past. */
export function checkFuture({ clock }: Context, name: string, date: Date | null | undefined): void {
  if (!date || date.getTime() > clock.now()) return;
  throw invalidInput([{ name, message: 'takes a date in the future' }]);
}

/** The first day of a report (UTC), or the number of its days. */
export const sinceField = z
  .string()
  .refine((text) => parseSince(text, 0) !== null, 'takes a day or a number of days, e.g. 2026-11-01 or 30d')
  .default('7d')
  .describe('first day (UTC), or number of days');

/** The day in UTC, since 1970-01-01. */
export const getToday = ({ clock }: Context): number => toDay(clock.now());

/** The fields that are given. */
export function withoutUndefined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

/** A range as the API shows it. */
export function toPublic<T extends BlockRange>({ firstBlock: from, lastBlock: to, ...rest }: T) {
  return { from, to, ...rest };
}

/** Throws RANGE_INVALID if the range is reversed. */
export function checkRange(from: number, to: number): void {
  if (to < from) fail('RANGE_INVALID', `The range ${from} to ${to} is reversed.`, 'Swap the two.');
}
