import { z } from 'zod';

/** The name of a network. */
export const networkField = z.string().min(1).max(64).describe('a network, as the networks file names it');

/** A whole number, also as text; underscores and commas between digits are left out. */
export const numberField = (min: number, max: number) =>
  z.preprocess(
    (value) =>
      typeof value === 'string' && /^\d[\d_,]*$/.test(value) ? Number(value.replace(/[_,]/g, '')) : value,
    z.number().int().min(min).max(max),
  );

/** The number of a block. */
export const blockField = numberField(0, Number.MAX_SAFE_INTEGER);

/** Rows of a page at most. */
export const limitField = (usual: number, most = 10_000) => numberField(1, most).default(usual);

/** true or false, also as text. */
export const flagField = z.preprocess(
  (value) => (value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value),
  z.boolean(),
);

/** A point in time as ISO text; without a time it is the begin of that day in UTC. */
export const dateField = z
  .preprocess((value) => (typeof value === 'string' ? new Date(value) : value), z.date())
  .meta({ type: 'string', format: 'date-time' });
