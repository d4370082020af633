import type { BlockFacts } from './capabilities.js';
import { type Fault, makeFault } from './upstream/fault.js';
import type { UpstreamNode } from './upstream-node.js';

/** A block as far as fetching needs to know it. */
export interface ReadBlock extends BlockFacts {
  block: Record<string, unknown>;
  /** Nothing can have been traced: no transactions, and no reward since the merge set the difficulty to 0. */
  untraceable: boolean;
}

/**
 * Reads the answer of eth_getBlockByNumber: only what the next calls rest on is checked. `hashesOnly` where the
 * transactions themselves were not asked for.
 */
export function readBlock(
  node: UpstreamNode,
  number: number,
  value: unknown,
  hashesOnly = false,
): ReadBlock | Fault {
  const asked = { label: node.label, what: `eth_getBlockByNumber for block ${number}`, block: number };
  if (value === null) {
    const known = node.head === null ? '' : ` though its head is ${node.head}`;
    return makeFault(asked, 'NODE_ANSWER_MISSING', `answered null${known}`, 'elsewhere', {
      hint: 'It is behind, or it does not keep this part of the chain.',
    });
  }
  const invalid = (happened: string): Fault =>
    makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'elsewhere', { data: { block: number } });
  if (typeof value !== 'object' || Array.isArray(value))
    return invalid('answered with something that is no block');
  const block = value as Record<string, unknown>;
  const { difficulty, hash, transactions } = block;
  if (typeof hash !== 'string') return invalid('answered with a block that has no hash');
  if (typeof block.number !== 'string' || Number(block.number) !== number) {
    return invalid(`answered with block ${node.label.quote(String(block.number))}`);
  }
  if (!Array.isArray(transactions)) return invalid('answered with a block that has no transactions');
  const transactionHashes: string[] = [];
  for (const transaction of transactions as unknown[]) {
    const own =
      typeof transaction === 'object' && transaction !== null && 'hash' in transaction
        ? transaction.hash
        : hashesOnly
          ? transaction
          : 0;
    if (typeof own !== 'string') return invalid('answered with a block whose transactions are not whole');
    transactionHashes.push(own);
  }
  const pastMerge = typeof difficulty === 'string' && Number(difficulty) === 0;
  return {
    block,
    number,
    hash,
    transactionHashes,
    // Genesis has neither transactions nor a reward, and several nodes answer an error for tracing it.
    untraceable: transactionHashes.length === 0 && (pastMerge || number === 0),
  };
}

/** Whether what was read is a fault. */
export function isFault(read: ReadBlock | Fault): read is Fault {
  return 'error' in read && 'action' in read;
}
