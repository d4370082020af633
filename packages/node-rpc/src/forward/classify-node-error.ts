import type { Family } from '@packhouse/networks';
import { refusedRange } from './refused-range.js';

/**
 * What a node's JSON-RPC error means for the call:
 * `answer` every node would say so (a revert, wrong parameters): it is the client's;
 * `elsewhere` this node cannot, another may; `busy` this node will not now, another may, and it counts against it.
 */
export type NodeErrorClass = 'answer' | 'elsewhere' | 'busy';

/** Codes by which hosted nodes say that a rate is exceeded, and HTTP's number, which some of them use. */
const BUSY = new Set([429, 1015, -32005, -32007, -32016, -32029, -32090, -32097]);
/** Timed out (geth rpc/errors.go), internal errors, methods missing here, and resources that are not here. */
const ELSEWHERE = new Set([-32002, -32601, -32004, -32603, -32001]);
/** Core space: the node is catching up or has pruned what was asked for (conflux-rust, client/src/rpc/errors). */
const CORE_ELSEWHERE = new Set([-32072, -32073, -32066, -32074, -32075, -32077]);

/** What one code means only together with a sentence: -32000 is all of geth's errors. */
const SAYS_NOT_HERE =
  /missing trie node|header not found|unknown block|block not found|state .{0,40}(not available|unavailable|pruned)|(historical|old) .{0,40}(not available|unavailable)|not synced|syncing/i;
const SAYS_BUSY =
  /rate.?limit|too many requests|requests? (per second|count|rate|limit)|\d\/sec|compute units|quota|over capacity|throughput/i;

/** Classifies an error object of a node by its code, and by its sentence where the code leaves it open. */
export function classifyNodeError(
  family: Family,
  method: string,
  code: number,
  message: string,
): NodeErrorClass {
  if (code === 3 || refusesLogs(method, code, message)) return 'answer';
  if (family === 'core') {
    if (CORE_ELSEWHERE.has(code)) return 'elsewhere';
    // Core space uses -32016 and -32015 for calls that fail: the client's.
    if (code === -32015 || code === -32016) return 'answer';
  }
  if (BUSY.has(code) && !isLimit(message)) return 'busy';
  if (ELSEWHERE.has(code)) return 'elsewhere';
  if (code === -32000 || code === 0) {
    if (SAYS_BUSY.test(message)) return 'busy';
    if (SAYS_NOT_HERE.test(message)) return 'elsewhere';
  }
  return 'answer';
}

/**
 * Whether it is eth_getLogs that is refused for what was asked: splitting helps there, and no other node. Its codes are
 * those of exceeded rates, of timeouts and of internal errors.
 */
export function refusesLogs(method: string, code: number, message: string): boolean {
  return method === 'eth_getLogs' && !SAYS_BUSY.test(message) && refusedRange(code, message) !== null;
}

/** Refusals of other questions about ranges share their code with rates too. */
function isLimit(message: string): boolean {
  return /log|range|results|response size|blocks?\b/i.test(message) && !SAYS_BUSY.test(message);
}
