import type { BlockRecord } from './block.js';
import type { ReceiptRecord } from './receipt.js';
import { hasRoot } from './receipt.js';
import { DEPOSIT, type TransactionRecord } from './transaction.js';

/*
 * Records as `extraFields: drop` writes them: without what no encoding has and only some clients say, so that the text is
 * the same whatever the client (docs/proofs.md, Normal form). Checks are made of what the node said.
 */

/** A block. Newer clients know no total difficulty, and one block alone does not tell it. */
export function plainBlock(block: BlockRecord): BlockRecord {
  return { ...block, totalDifficulty: undefined };
}

/** A transaction: a legacy one that is bound to no chain names none, and a deposit has only what is encoded. */
export function plainTransaction(tx: TransactionRecord): TransactionRecord {
  if (tx.other !== undefined) return tx;
  if (tx.kind === 0) return isBound(tx) ? tx : { ...tx, chainId: undefined };
  if (tx.kind !== DEPOSIT) return tx;
  const unsigned = { gasPrice: undefined, nonce: undefined, v: undefined, r: undefined, s: undefined };
  return {
    ...tx,
    ...unsigned,
    chainId: undefined,
    mint: tx.mint === '0x0' ? undefined : tx.mint,
    isSystemTx: tx.isSystemTx === true ? true : undefined,
  };
}

/** Whether `v` binds the transaction to a chain (EIP-155). */
function isBound({ v }: TransactionRecord): boolean {
  return v != null && BigInt(v) >= 35n;
}

/** A receipt: it has a root, or a status; and nobody pays for a deposit. `tx` is absent if it is not known. */
export function plainReceipt(receipt: ReceiptRecord, tx?: TransactionRecord): ReceiptRecord {
  const rooted = hasRoot(receipt);
  const isDeposit = tx?.kind === DEPOSIT && tx.other === undefined;
  return {
    ...receipt,
    root: rooted ? receipt.root : undefined,
    status: rooted ? undefined : receipt.status,
    effectiveGasPrice: isDeposit ? undefined : receipt.effectiveGasPrice,
  };
}
