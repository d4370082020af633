import type { GoodAnswer } from '../calls/call.js';
import type { BlockFacts, Mode } from '../calls/capabilities.js';
import type { UpstreamNode } from '../calls/node.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import type { Part } from './lazy-block.js';
import { checkBlockHash, listOf, readList } from './record-list.js';

/** The receipts of a block, or the fault of their form. */
type ReadReceipts = { ok: true; receipts: Part<unknown[]> } | { ok: false; fault: Fault };

/** Reads the receipts of a block from the answers to its calls. The proofs show whether they are the right ones. */
export function readReceipts(
  node: UpstreamNode,
  mode: Mode,
  block: BlockFacts,
  answers: readonly GoodAnswer[],
): ReadReceipts {
  const asked = { label: node.label, what: `${mode.name} for block ${block.number}`, block: block.number };
  const bad = (fault: Fault): ReadReceipts => ({ ok: false, fault });
  const receipts = listOfAll(answers);
  const expected = block.transactions;
  if (receipts === null) {
    return bad(
      makeFault(asked, 'NODE_ANSWER_INVALID', 'answered with something that is no list', 'elsewhere'),
    );
  }
  if (isFault(receipts)) return bad(receipts);
  const { present } = receipts;
  if (present < expected) {
    const happened = `answered with ${present} receipts for ${expected} transactions`;
    return bad(
      makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'elsewhere', {
        hint: 'It is behind, or it does not keep these receipts.',
      }),
    );
  }
  const other = checkBlockHash(asked, receipts.first, block);
  return other === null ? { ok: true, receipts } : bad(other);
}

function listOfAll(answers: readonly GoodAnswer[]): ReturnType<typeof readList> {
  const only = answers.length === 1 ? answers[0] : undefined;
  if (only === undefined) return listOf(answers.map((answer) => answer.value));
  const list = readList(only);
  if (list !== null) return list;
  if (only.value === null) return listOf([]);
  // One call per transaction.
  return typeof only.value === 'object' ? listOf([only.value]) : null;
}
