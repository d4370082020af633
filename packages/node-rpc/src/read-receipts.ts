import type { Answer } from './call.js';
import type { BlockFacts, Mode } from './capabilities.js';
import { type Fault, makeFault } from './upstream/fault.js';
import type { UpstreamNode } from './upstream-node.js';

/** What is wrong with the receipts of a block, or null. That they are the right ones is for the proofs to say. */
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

/** The receipts of a block from the answers to its calls; null where they are no list. */
export function receiptsOf(answers: readonly Extract<Answer, { ok: true }>[]): unknown[] | null {
  const only = answers.length === 1 ? answers[0] : undefined;
  if (only === undefined) return answers.map((answer) => answer.value);
  if (Array.isArray(only.value)) return only.value as unknown[];
  if (only.value === null) return [];
  // One transaction, asked by itself.
  return typeof only.value === 'object' ? [only.value] : null;
}

/** A record that names another block than the one it was asked for: the chain was reorganised in between. */
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
