import { type ErrorCode, isPackhouseError } from '@packhouse/runtime';

/**
 * The cause of a block's failure: `block` its data, `staging` its fit with its neighbours, `node` a node as a whole,
 * `either` a node as a whole or a block that no node can answer for (a trace that takes too long).
 */
type Fault = 'block' | 'staging' | 'node' | 'either';

/**
 * The action for a failed block: `hold` quarantines it, `retry` leaves it to the next try of the job, `ask-alone` asks
 * for it without its neighbours and holds it if it fails again, `ask-elsewhere` asks for another block and holds the
 * window if that one is answered.
 */
export type Remedy = 'hold' | 'retry' | 'ask-alone' | 'ask-elsewhere';

/** A job's tries up to this one are hasty, later ones are patient, and from the last one on nothing may be left. */
const HASTY_ATTEMPTS = 2;
const LAST_ATTEMPT = 5;

/** By fault: of a hasty try, of a patient one and of the last. */
const SOME_FAILED: Readonly<Record<Fault, readonly [Remedy, Remedy, Remedy]>> = {
  block: ['hold', 'hold', 'hold'],
  staging: ['retry', 'hold', 'hold'],
  node: ['retry', 'retry', 'retry'],
  either: ['retry', 'ask-alone', 'ask-alone'],
};
/** The same if no block of the window succeeded. */
const ALL_FAILED: typeof SOME_FAILED = { ...SOME_FAILED, either: ['retry', 'retry', 'ask-elsewhere'] };

/** The action for a fault at this try, counted from 1. */
export function getRemedy(fault: Fault, { attempt, all }: { attempt: number; all: boolean }): Remedy {
  const stage = attempt <= HASTY_ATTEMPTS ? 0 : attempt < LAST_ATTEMPT ? 1 : 2;
  return (all ? ALL_FAILED : SOME_FAILED)[fault][stage];
}

/** Faults of a node as a whole, as far as their code says. */
const NODE_FAULTS: Readonly<Partial<Record<ErrorCode, 'node' | 'either'>>> = {
  NODE_UNREACHABLE: 'either',
  NODE_TIMEOUT: 'either',
  NODE_HTTP_ERROR: 'either',
  NODE_NOT_JSON_RPC: 'either',
  NODE_RATE_LIMITED: 'node',
  NODE_UNAUTHORIZED: 'node',
  NODE_WRONG_CHAIN: 'node',
  BUDGET_EXHAUSTED: 'node',
  BUDGET_UNAVAILABLE: 'node',
};

/** Their codes: blocks that failed by them may succeed as soon as a node answers. */
export const NODE_CAUSES = Object.keys(NODE_FAULTS);

/** `unstaged`: the block was extracted, and could not be staged. */
export function toFault({ error, unstaged }: { error: Error; unstaged: boolean }): Fault {
  const nodeFault = isPackhouseError(error) ? NODE_FAULTS[error.code] : undefined;
  return nodeFault ?? (unstaged ? 'staging' : 'block');
}

/** Whether the error is one of a node as a whole, possibly caused by a single block. */
export function isNodeFault(error: Error): boolean {
  return isPackhouseError(error) && NODE_FAULTS[error.code] !== undefined;
}

/**
 * Causes outside of the blocks, without a remedy on this side: quarantined as one range, of which one block is tried
 * again every few minutes. Once that succeeds, the rest is fetched.
 */
export const PROBED_CAUSES: readonly ErrorCode[] = ['FORK_UNKNOWN', 'NODE_METHOD_MISSING'];

export function isProbed(cause: string): boolean {
  return (PROBED_CAUSES as readonly string[]).includes(cause);
}

/** The cause of a failure, as the quarantine names it. */
export function getCause(error: Error): ErrorCode {
  return isPackhouseError(error) ? error.code : 'INTERNAL';
}

/** Pruned history, by code: EIP-4444 as geth answers it (eth/ethconfig "pruned history unavailable"). */
const PRUNED_CODE = 4444;
/** Nodes have one code for all errors; only their messages name the data that they do not keep. */
const SAYS_NOT_KEPT =
  /missing trie node|state .{0,60}(not|un)\s?available|historical state|pruned|(block|header) not found|unknown block|history .{0,40}(not|un)\s?available|no state/i;

/** Whether the node does not keep this part of the chain, or not its receipts or state. */
export function isNotKept(error: Error): boolean {
  if (isPackhouseError(error, 'NODE_ANSWER_MISSING')) return true;
  if (!isPackhouseError(error, 'NODE_ERROR')) return false;
  return error.data.rpcCode === PRUNED_CODE || SAYS_NOT_KEPT.test(error.message);
}

/** Whether Postgres is in trouble: no block is to blame for that. */
export function isDatabaseFault(error: unknown): boolean {
  return (
    isPackhouseError(error, 'DATABASE_UNAVAILABLE') ||
    isPackhouseError(error, 'DISK_FULL') ||
    isPackhouseError(error, 'DATABASE_NEWER') ||
    isPackhouseError(error, 'DATABASE_NOT_MIGRATED')
  );
}
