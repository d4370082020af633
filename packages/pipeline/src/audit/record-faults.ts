import { isPackhouseError } from '@packhouse/runtime';
import type { Fault, FindingCause } from './finding.js';

const SHOWN = 40;

/** What an error of the prover or the reader of records says of a block. */
export function recordFault(block: number, error: unknown): Fault {
  const { message } = error as Error;
  const what = `in block ${block}, ${message.replace(/^Block \d+: /, '')}`;
  if (!isPackhouseError(error)) return { cause: 'record', what, block };
  const { proof, expected, got } = error.data;
  return {
    cause: error.code === 'PROOF_FAILED' ? (proof as FindingCause) : 'record',
    what,
    block,
    ...(typeof expected === 'string' ? { expected } : {}),
    ...(typeof got === 'string' ? { got } : {}),
  };
}

/** The record is not what its canonical form is. */
export function notCanonical(block: number, expected: string, got: string): Fault {
  let at = 0;
  while (at < got.length && got[at] === expected[at]) at++;
  const from = Math.max(0, at - SHOWN / 2);
  const [right, wrong] = [expected.slice(from, at + SHOWN), got.slice(from, at + SHOWN)];
  return {
    cause: 'canonical',
    what: `the record of block ${block} is not in canonical form at byte ${at}: it has ${JSON.stringify(wrong)}, expected ${JSON.stringify(right)}.`,
    block,
    expected: right,
    got: wrong,
  };
}

/** The record is of another block. */
export function wrongNumber(block: number, got: string): Fault {
  return {
    cause: 'blockNumber',
    what: `the record in the place of block ${block} is of block ${got}.`,
    block,
    expected: String(block),
    got,
  };
}
