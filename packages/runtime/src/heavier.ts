import type { ErrorCode } from './catalogue.js';
import { isPackhouseError } from './errors.js';

/**
 * How much an error says about a block that several nodes were asked for. What contradicts a header, or itself, was seen
 * to be false; whatever another node lacks, or answers too late, does not make that true. FORK_UNKNOWN is decided over
 * all nodes together.
 */
const WEIGHTS: Readonly<Partial<Record<ErrorCode, number>>> = {
  PROOF_FAILED: 4,
  RECORD_INVALID: 3,
  NODE_ANSWER_FALSE: 2,
  NODE_ANSWER_INVALID: 2,
  INTERNAL: 1,
};

/** The weight of an error code, 0 for those that are no finding. */
export function getWeight(code: string): number {
  return WEIGHTS[code as ErrorCode] ?? 0;
}

/** The error that says more about the block; the later one if both say as much. */
export function heavier(known: Error | undefined, later: Error): Error {
  return known !== undefined && weigh(known) > weigh(later) ? known : later;
}

/** An error of another class is a fault of Packhouse itself. */
function weigh(error: Error): number {
  return getWeight(isPackhouseError(error) ? error.code : 'INTERNAL');
}
