import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext, GoodAnswer } from '../calls/call.js';
import type { BlockFacts, Mode } from '../calls/capabilities.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import { callCapable } from './call-capable.js';
import type { Part } from './lazy-block.js';
import { checkBlockHash, readList, toList } from './record-list.js';

/** Asks an upstream for the receipts of blocks that have transactions. */
export function fetchReceipts(node: BatchUpstream, blocks: readonly BlockFacts[], context: CallContext) {
  return callCapable(node, node.capabilities.receipts, blocks, context, (mode, block, answers) =>
    readReceipts(node, mode, block, answers),
  );
}

/** Reads the receipts of a block from the answers to its calls. The proofs show whether they are the right ones. */
function readReceipts(
  node: BatchUpstream,
  mode: Mode,
  block: BlockFacts,
  answers: readonly GoodAnswer[],
): Part<unknown[]> | Fault {
  const asked = { label: node.label, what: `${mode.name} for block ${block.number}`, block: block.number };
  const receipts = listOfAll(answers);
  if (receipts === null) {
    return makeFault(asked, 'NODE_ANSWER_INVALID', 'answered with something that is no list', 'elsewhere');
  }
  if (isFault(receipts)) return receipts;
  const { present } = receipts;
  if (present < block.transactions && block.mayLackReceipts === true) {
    // Where each was asked for, those of transactions that have none are null.
    const isWhole = present === receipts.length;
    const given = isWhole ? receipts : toList(receipts.value.filter((receipt) => receipt != null));
    return checkBlockHash(asked, given.first, block) ?? given;
  }
  if (present < block.transactions) {
    const happened = `answered with ${present} receipts for ${block.transactions} transactions`;
    return makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'elsewhere', {
      hint: 'It is behind, or it does not keep these receipts.',
    });
  }
  return checkBlockHash(asked, receipts.first, block) ?? receipts;
}

function listOfAll(answers: readonly GoodAnswer[]): ReturnType<typeof readList> {
  const only = answers.length === 1 ? answers[0] : undefined;
  if (only === undefined) return toList(answers.map((answer) => answer.value));
  const list = readList(only);
  if (list !== null) return list;
  if (only.value === null) return toList([]);
  // One call per transaction.
  return typeof only.value === 'object' ? toList([only.value]) : null;
}
