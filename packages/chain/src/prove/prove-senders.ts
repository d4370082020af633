import { DEPOSIT, type TransactionRecord } from '../read/transaction.js';
import { recoverSender } from './recover-sender.js';
import { type BlockInHand, disagree, type Tools } from './tools.js';

/**
 * Proves that each transaction was signed by the sender it names. Gives whether that could be done for all.
 *
 * A deposit is signed by nobody and has its sender in its encoding, which is proved. The first generation of the OP
 * stack has transactions from L1 with an empty signature, whose sender nothing proves.
 */
export function proveSenders(
  tools: Tools,
  block: BlockInHand,
  transactions: readonly TransactionRecord[],
): boolean {
  const { rlp, keccak } = tools;
  let all = true;
  rlp.clear();
  for (let index = 0; index < transactions.length; index++) {
    const tx = transactions[index]!;
    if (tx.kind === DEPOSIT) continue;
    if (/^0x0+$/.test(tx.r!) && /^0x0+$/.test(tx.s!)) {
      all = false;
      continue;
    }
    const sender = recoverSender(rlp, keccak, tx);
    if (sender === tx.from) continue;
    const expected = sender ?? 'a valid signature';
    const because = 'it is who signed the transaction';
    disagree(block, `transactions[${index}].from`, tx.from, expected, because, 'senders');
  }
  return all;
}
