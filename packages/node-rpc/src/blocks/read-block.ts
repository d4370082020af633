import type { Answer } from '../calls/call.js';
import type { BlockFacts, Mode } from '../calls/capabilities.js';
import type { UpstreamNode } from '../calls/node.js';
import { type Fault, makeFault } from '../upstream/fault.js';

/** The parts of a block that fetching needs. */
export interface ReadBlock extends BlockFacts {
  block: Record<string, unknown>;
  /** There are no traces: no transactions, and no reward since the merge set the difficulty to 0. */
  untraceable: boolean;
}

/**
 * Reads the answer of eth_getBlockByNumber and checks only what the next calls depend on. `hashesOnly`: only the
 * hashes of the transactions were requested.
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
    // Genesis has neither transactions nor a reward, and several node programs return an error for tracing it.
    untraceable: transactionHashes.length === 0 && (pastMerge || number === 0),
  };
}

export function isFault(read: ReadBlock | Fault): read is Fault {
  return 'error' in read && 'action' in read;
}

/** The fault of the form of a block's receipts, or null. The proofs show whether they are the right ones. */
export function checkReceipts(
  node: UpstreamNode,
  mode: Mode,
  block: BlockFacts,
  answers: readonly Extract<Answer, { ok: true }>[],
): Fault | 'refused' | null {
  const asked = { label: node.label, what: `${mode.name} for block ${block.number}`, block: block.number };
  const receipts = receiptsOf(answers);
  const expected = block.transactionHashes.length;
  if (receipts === null) {
    return makeFault(asked, 'NODE_ANSWER_INVALID', 'answered with something that is no list', 'elsewhere');
  }
  const present = receipts.filter((receipt) => receipt !== null && receipt !== undefined).length;
  if (present < expected) {
    const happened = `answered with ${present} receipts for ${expected} transactions`;
    return makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'elsewhere', {
      hint: 'It is behind, or it does not keep these receipts.',
    });
  }
  return checkBlockHash(asked, receipts[0], block);
}

/** The receipts of a block from the answers to its calls; null if they are no list. */
export function receiptsOf(answers: readonly Extract<Answer, { ok: true }>[]): unknown[] | null {
  const only = answers.length === 1 ? answers[0] : undefined;
  if (only === undefined) return answers.map((answer) => answer.value);
  if (Array.isArray(only.value)) return only.value as unknown[];
  if (only.value === null) return [];
  // One call per transaction.
  return typeof only.value === 'object' ? [only.value] : null;
}

/** A record that names another block than the requested one: the chain was reorganised in between. */
export function checkBlockHash(
  asked: Parameters<typeof makeFault>[0],
  record: unknown,
  block: BlockFacts,
): Fault | null {
  const named =
    typeof record === 'object' && record !== null && 'blockHash' in record ? record.blockHash : undefined;
  if (typeof named !== 'string' || named.toLowerCase() === block.hash.toLowerCase()) return null;
  const happened = `answered with data of block ${asked.label.quote(named)} instead of ${block.hash}`;
  return makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'here', {
    hint: 'The chain was reorganised between two calls; the block is fetched again.',
  });
}
