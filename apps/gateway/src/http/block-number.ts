import { Problem } from './problem.js';

const DECIMAL = /^(?:0|[1-9]\d{0,15})$/;

/** Reads a block number from a path. Throws the problem `block-number-invalid` unless it is a plain decimal integer. */
export function blockNumber(text: string): number {
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new Problem('block-number-invalid', {
    detail:
      'The block number must be a decimal integer without sign, leading zeros or 0x, from 0 to 9007199254740991.',
  });
}
