import { KINDS } from '@packhouse/chain';
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

/** true or false, also as text. */
export const flagField = z.preprocess(
  (value) => (value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value),
  z.boolean(),
);

/** Some of these, as an array or as text with commas. */
export const listField = <const T extends readonly [string, ...string[]]>(of: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(of)).min(1).max(64),
  );

/** Kinds of records. */
export const kindsField = listField(
  KINDS as unknown as readonly [(typeof KINDS)[number], ...(typeof KINDS)[number][]],
);
