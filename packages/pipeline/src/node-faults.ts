import { type ErrorCode, isPackhouseError } from '@packhouse/runtime';

/** Faults of a node as a whole, which a single block may cause all the same (a trace that takes too long). */
const BLOCK_MAY_CAUSE: readonly ErrorCode[] = [
  'NODE_UNREACHABLE',
  'NODE_TIMEOUT',
  'NODE_HTTP_ERROR',
  'NODE_NOT_JSON_RPC',
];
const NODE_FAULTS: readonly ErrorCode[] = [
  ...BLOCK_MAY_CAUSE,
  'NODE_RATE_LIMITED',
  'NODE_UNAUTHORIZED',
  'NODE_METHOD_MISSING',
];

/** Whether a node as a whole is in trouble, as far as can be told from this error: no single block is to blame. */
export function isNodeFault(error: Error): boolean {
  return isPackhouseError(error) && NODE_FAULTS.includes(error.code);
}

/** Whether the block may be to blame after all, where the node answers other questions and only this block fails. */
export function mayBlameBlock(error: Error): boolean {
  return isPackhouseError(error) && BLOCK_MAY_CAUSE.includes(error.code);
}
