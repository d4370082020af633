import { toQuantity } from '../record/hex.js';
import type { TransactionRecord } from '../record/transaction.js';
import { type BlockInHand, disagree, type SignedChain } from './tools.js';

/**
 * Checks that a transaction was signed for this chain, if it says for which, and that the chain it names is the one of
 * its signature. Some nodes write 0 for a legacy transaction that names none.
 */
export function checkChain(
  block: BlockInHand,
  chain: SignedChain | undefined,
  tx: TransactionRecord,
  index: number,
): void {
  const field = `transactions[${index}]`;
  const isOwn = chain === undefined || tx.kind !== 0 || chain.v.includes(tx.v!);
  const signed = tx.kind === 0 && (chain === undefined || !isOwn) ? signedChain(tx) : chain?.id;
  const named = signed === undefined && tx.chainId === '0x0' ? undefined : tx.chainId;
  const expected = chain?.id ?? signed;
  if (named != null && expected !== undefined && named !== expected) {
    const because = chain === undefined ? `v is ${tx.v} (EIP-155)` : 'it is the chain that the network names';
    disagree(block, `${field}.chainId`, named, expected, because);
  }
  if (isOwn || signed === undefined) return;
  const because = 'the transaction was signed for another chain (EIP-155)';
  disagree(block, `${field}.v`, tx.v, chain.v.join(' or '), because);
}

/** Chain that a legacy transaction was signed for; undefined if it was for none, or not signed at all. */
function signedChain(tx: TransactionRecord): string | undefined {
  return isUnsigned(tx) ? undefined : legacyChainId(tx);
}

/** Whether a system made the transaction, with zeros for a signature. */
export function isUnsigned({ r, s }: TransactionRecord): boolean {
  return ZEROS.test(r ?? '') && ZEROS.test(s ?? '');
}

const ZEROS = /^0x0+$/;

/** Chain that a legacy transaction is bound to: `v` is 35 or 36 and twice the id (EIP-155); undefined for 27 and 28. */
export function legacyChainId(tx: TransactionRecord): string | undefined {
  const v = BigInt(tx.v!);
  return v < 35n ? undefined : toQuantity((v - 35n) >> 1n);
}
