/** A total over all blocks, and the interval that holds it in nine cases of ten. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
}

/** Part of the cases in which the true total is outside of the interval. */
const OUTSIDE = 0.1;
/** Standard normal deviation with 5 % above it. */
const NORMAL_95 = 1.6449;

/**
 * The total of `blocks` blocks from one of each of as many equal strata, in the order of the strata: their mean times
 * the blocks. `most`: what one block can have.
 *
 * The variance is that of successive differences (Wolter, Introduction to Variance Estimation, 2007, section 8.2),
 * which is right for one block a stratum and does not take a trend for noise; the interval is Student's t with one
 * degree of freedom less than blocks. Where all were alike, up to 1 - 0.1^(1/n) of the blocks may still differ. If
 * every block was looked at, the total is exact. Throws RangeError without values.
 */
export function estimateTotal(
  values: readonly number[],
  blocks: number,
  most = Number.POSITIVE_INFINITY,
): Estimate {
  const count = values.length;
  if (count === 0) throw new RangeError('nothing was looked at');
  const seen = values.reduce((sum, value) => sum + value, 0);
  const mean = seen / count;
  const value = mean * blocks;
  if (count >= blocks) return { value, low: value, high: value };
  let squares = 0;
  for (let i = 1; i < count; i++) squares += ((values[i] as number) - (values[i - 1] as number)) ** 2;
  const highest = most * blocks;
  if (squares === 0) {
    const others = (1 - OUTSIDE ** (1 / count)) * blocks;
    const low = Math.max(seen, value - others * mean);
    return { value, low, high: Math.min(highest, value + others * Math.max(1, mean)) };
  }
  const variance = squares / (2 * (count - 1));
  const error = blocks * Math.sqrt(((1 - count / blocks) * variance) / count);
  const reach = studentT95(count - 1) * error;
  return { value, low: Math.max(seen, value - reach), high: Math.min(highest, value + reach) };
}

/** The same interval for another unit: `factor` of it each. */
export function scaled({ value, low, high }: Estimate, factor: number): Estimate {
  return { value: value * factor, low: low * factor, high: high * factor };
}

/** Student's t with 5 % above it, to 1 % from 3 degrees of freedom on (Cornish and Fisher's expansion). */
function studentT95(freedom: number): number {
  const z = NORMAL_95;
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}
