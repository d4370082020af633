import { EXACT_LENGTH, exactNumber, toQuantity } from '../record/hex.js';
import type { ReceiptRecord } from '../record/receipt.js';
import { DEPOSIT, type TransactionRecord } from '../record/transaction.js';
import { blobGas } from './complete.js';
import { type BlockInHand, disagree, disagreeOf } from './tools.js';

/*
 * What is paid for gas. No root has it, so it follows from the fees that the transaction offers and the base fee
 * (EIP-1559), or at least is no more than it offers.
 */

const OFFERED = 'no more is paid than the transaction offers (EIP-1559)';

/** Checks what a transaction says that it pays. */
export function checkPrice(block: BlockInHand, tx: TransactionRecord, index: number): void {
  const { checks, record } = block;
  const { gasPrice, maxFeePerGas: most } = tx;
  if (isDeposit(tx) || gasPrice == null) return;
  if (namesNoFee(tx)) {
    block.unchecked.add('typePrices');
    return;
  }
  if (most == null) return;
  const price = checks.prices === 'most' ? undefined : effectivePrice(tx, record.baseFeePerGas);
  if (price !== undefined && gasPrice !== price) {
    const because = 'it follows from maxFeePerGas, maxPriorityFeePerGas and the base fee';
    disagreeOf(block, index, 'gasPrice', gasPrice, price, because);
  }
  if (isAbove(gasPrice, most)) disagreeOf(block, index, 'gasPrice', gasPrice, `at most ${most}`, OFFERED);
}

/** Checks what a receipt says that was paid, and the gas of blobs. */
export function checkPaid(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
): void {
  const { checks, record } = block;
  const { effectiveGasPrice: paid, blobGasUsed } = receipt;
  if (checks.sums && tx.kind === 3 && tx.other === undefined && blobGasUsed != null) {
    const expected = blobGas(tx);
    if (blobGasUsed !== expected)
      disagree(block, `receipts[${index}].blobGasUsed`, blobGasUsed, expected, 'a blob uses 131072');
  }
  if (isDeposit(tx) || paid == null) return;
  if (namesNoFee(tx)) {
    block.unchecked.add('typePrices');
    return;
  }
  const { gasPrice, maxFeePerGas } = tx;
  const fail = (expected: string, because: string) =>
    disagree(block, `receipts[${index}].effectiveGasPrice`, paid, expected, because);
  if (gasPrice != null && checks.prices === 'equal' && paid !== gasPrice)
    fail(gasPrice, "it is the transaction's gasPrice");
  if (gasPrice != null && checks.prices === 'base' && paid !== gasPrice && paid !== record.baseFeePerGas)
    fail(`${record.baseFeePerGas} or ${gasPrice}`, "it is the base fee, or the transaction's gasPrice");
  const most = maxFeePerGas ?? gasPrice;
  if (most != null && block.unproved.hashes === undefined && isAbove(paid, most))
    fail(`at most ${most}`, OFFERED);
}

function isDeposit({ kind, other }: TransactionRecord): boolean {
  return kind === DEPOSIT && other === undefined;
}

/** Whether its type is of another chain and has not both fees of EIP-1559, so that its price follows from nothing. */
function namesNoFee({ other, maxFeePerGas, maxPriorityFeePerGas }: TransactionRecord): boolean {
  return other !== undefined && (maxFeePerGas == null || maxPriorityFeePerGas == null);
}

/** Whether a canonical QUANTITY is more than another. */
function isAbove(quantity: string, most: string): boolean {
  return quantity.length === most.length ? quantity > most : quantity.length > most.length;
}

/**
 * The price of a unit of gas, as QUANTITY, if the block's base fee decides it: the lesser of the transaction's maximum
 * and the base fee with its tip. undefined if the transaction names its price itself.
 */
function effectivePrice(tx: TransactionRecord, baseFee: string | null | undefined): string | undefined {
  const { maxFeePerGas: max, maxPriorityFeePerGas: tip } = tx;
  if (max == null || tip == null || baseFee == null) return undefined;
  if (max.length <= EXACT_LENGTH && tip.length <= EXACT_LENGTH && baseFee.length <= EXACT_LENGTH) {
    return toQuantity(Math.min(exactNumber(max), exactNumber(baseFee) + exactNumber(tip)));
  }
  const whole = BigInt(baseFee) + BigInt(tip);
  return whole < BigInt(max) ? toQuantity(whole) : max;
}
