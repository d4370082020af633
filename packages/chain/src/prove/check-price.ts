import { EXACT_LENGTH, exactNumber } from '../read/hex.js';
import type { TransactionRecord } from '../read/transaction.js';

/**
 * What a transaction pays for a unit of gas, as QUANTITY, where the block's base fee decides it: the lesser of its
 * maximum and the base fee with its tip (EIP-1559). undefined where the transaction names its price itself.
 */
export function effectivePrice(
  tx: TransactionRecord,
  baseFee: string | null | undefined,
): string | undefined {
  const { kind, maxFeePerGas, maxPriorityFeePerGas } = tx;
  if (kind < 2 || kind > 4 || baseFee == null) return undefined;
  const max = maxFeePerGas!;
  const tip = maxPriorityFeePerGas!;
  if (max.length <= EXACT_LENGTH && tip.length <= EXACT_LENGTH && baseFee.length <= EXACT_LENGTH) {
    return `0x${Math.min(exactNumber(max), exactNumber(baseFee) + exactNumber(tip)).toString(16)}`;
  }
  const whole = BigInt(baseFee) + BigInt(tip);
  return whole < BigInt(max) ? `0x${whole.toString(16)}` : max;
}
