import type { TransactionRecord } from '../read/transaction.js';

/** Chain that a legacy transaction is bound to: `v` is 35 or 36 and twice the id (EIP-155); undefined for 27 and 28. */
export function legacyChainId(tx: TransactionRecord): string | undefined {
  const v = BigInt(tx.v!);
  return v < 35n ? undefined : `0x${((v - 35n) >> 1n).toString(16)}`;
}
