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
  'NODE_WRONG_CHAIN',
];

/** Whether a node as a whole is in trouble, as far as can be told from this error: no single block is to blame. */
export function isNodeFault(error: Error): boolean {
  return isPackhouseError(error) && NODE_FAULTS.includes(error.code);
}

/** Whether the block may be to blame after all, where the node answers other questions and only this block fails. */
export function mayBlameBlock(error: Error): boolean {
  return isPackhouseError(error) && BLOCK_MAY_CAUSE.includes(error.code);
}

/** Pruned history, by code: EIP-4444 as geth answers it (eth/ethconfig "pruned history unavailable"). */
const PRUNED_CODE = 4444;
/** Nodes have one code for everything that goes wrong; only their words tell what they do not keep. */
const SAYS_NOT_KEPT =
  /missing trie node|state .{0,60}(not|un)\s?available|historical state|pruned|(block|header) not found|unknown block|history .{0,40}(not|un)\s?available|no state/i;

/** Whether the node does not keep this part of the chain, or not its receipts or state. */
export function isNotKept(error: Error): boolean {
  if (isPackhouseError(error, 'NODE_ANSWER_MISSING')) return true;
  if (!isPackhouseError(error, 'NODE_ERROR')) return false;
  return error.data.rpcCode === PRUNED_CODE || SAYS_NOT_KEPT.test(error.message);
}

/** Postgres is in trouble: no block is to blame for it. */
export function isDatabaseFault(error: unknown): boolean {
  return (
    isPackhouseError(error, 'DATABASE_UNAVAILABLE') ||
    isPackhouseError(error, 'DISK_FULL') ||
    isPackhouseError(error, 'DATABASE_NEWER') ||
    isPackhouseError(error, 'DATABASE_NOT_MIGRATED')
  );
}
