import type { AnswerRecorder } from './recorded-answers.js';
import type { ServedBlock, ServedChain, TransactionPlace } from './served-chain.js';

/** Capabilities of a replay node; all true unless said otherwise. */
export interface NodeCapabilities {
  /** eth_getBlockReceipts. */
  receiptsByBlock: boolean;
  /** eth_getTransactionReceipt. */
  receiptsByTransaction: boolean;
  /** trace_block. */
  traceBlock: boolean;
  /** debug_traceBlockByHash and -ByNumber with flatCallTracer. */
  debugFlat: boolean;
  /** debug_traceBlockByHash and -ByNumber with callTracer. */
  debugCall: boolean;
  /** The tags `finalized` and `safe`. */
  finalizedTag: boolean;
}

/** The chain as the node knows it at the moment: nothing above its head exists yet. */
export interface NodeState {
  chain: ServedChain;
  chainId: number;
  head: number;
  /** The finalized block: a number, or how far it is behind the head. */
  finalized: number | { depth: number };
  capabilities: NodeCapabilities;
  /** Answers that come before those made of the chain. */
  recorded: AnswerRecorder;
  /** Whether it is a node of an EVM chain at all. */
  hasBlocks: boolean;
}

/** The number of the finalized block, never above the head. */
export function finalizedNumber({ finalized, head, chain }: NodeState): number {
  const number = typeof finalized === 'number' ? finalized : head - finalized.depth;
  return Math.max(chain.firstNumber, Math.min(number, head));
}

/** The block of that number, as far as the node has it. */
export function visibleBlock(state: NodeState, number: number | undefined): ServedBlock | undefined {
  return number === undefined || number > state.head ? undefined : state.chain.block(number);
}

/** Where a transaction is, as far as the node has its block. */
export function visiblePlace(state: NodeState, hash: string): TransactionPlace | undefined {
  const place = state.chain.locateTransaction(hash);
  return place === undefined || place.number > state.head ? undefined : place;
}
