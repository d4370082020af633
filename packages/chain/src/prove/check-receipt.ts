import { EXACT_LENGTH, exactNumber } from '../read/hex.js';
import type { LogRecord } from '../read/log.js';
import { hasRoot, type ReceiptRecord } from '../read/receipt.js';
import { DEPOSIT, type TransactionRecord } from '../read/transaction.js';
import { type BlockInHand, disagree } from './tools.js';

/** Gas of one blob (EIP-4844). */
const GAS_PER_BLOB = 131_072;
const NO_ADDRESS = `0x${'0'.repeat(40)}`;

/** Checks that a receipt and its logs are of this transaction; `firstLog` is the number of logs before it. */
export function checkReceipt(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
  firstLog: number,
): void {
  const { record } = block;
  const { type } = tx;
  if (receipt.blockHash !== record.hash) {
    wrong(block, index, 'blockHash', receipt.blockHash, record.hash, 'the receipt is of another block');
  }
  if (receipt.blockNumber !== record.number) {
    wrong(block, index, 'blockNumber', receipt.blockNumber, record.number, "it is the block's number");
  }
  if (receipt.transactionHash !== tx.hash) {
    wrong(block, index, 'transactionHash', receipt.transactionHash, tx.hash, "it is the transaction's hash");
  }
  if (receipt.transactionIndex !== tx.transactionIndex) {
    const expected = tx.transactionIndex;
    wrong(
      block,
      index,
      'transactionIndex',
      receipt.transactionIndex,
      expected,
      "it is the transaction's place",
    );
  }
  if (receipt.from != null && receipt.from !== tx.from) {
    wrong(block, index, 'from', receipt.from, tx.from, "it is the transaction's sender");
  }
  if (receipt.to !== undefined && receipt.to !== tx.to) {
    wrong(block, index, 'to', receipt.to, tx.to ?? 'null', "it is the transaction's recipient");
  }
  if (receipt.type != null && type != null && receipt.type !== type) {
    wrong(block, index, 'type', receipt.type, type, "it is the transaction's type");
  }
  for (let at = 0; at < receipt.logs.length; at++) {
    checkLog(block, tx, receipt.logs[at]!, firstLog + at, index, at);
  }
  if (block.strict) checkPrices(block, tx, receipt, index);
}

function wrong(
  block: BlockInHand,
  index: number,
  name: string,
  got: string | null | undefined,
  expected: string,
  because: string,
): never {
  return disagree(block, `receipts[${index}].${name}`, got, expected, because);
}

function checkPrices(block: BlockInHand, tx: TransactionRecord, receipt: ReceiptRecord, index: number): void {
  const { effectiveGasPrice, blobGasUsed } = receipt;
  if (effectiveGasPrice != null && tx.gasPrice != null && effectiveGasPrice !== tx.gasPrice) {
    wrong(
      block,
      index,
      'effectiveGasPrice',
      effectiveGasPrice,
      tx.gasPrice,
      "it is the transaction's gasPrice",
    );
  }
  if (tx.kind === 3 && blobGasUsed != null) {
    const expected = `0x${(GAS_PER_BLOB * (tx.blobVersionedHashes?.length ?? 0)).toString(16)}`;
    if (blobGasUsed !== expected)
      wrong(block, index, 'blobGasUsed', blobGasUsed, expected, 'a blob uses 131072');
  }
}

function checkLog(
  block: BlockInHand,
  tx: TransactionRecord,
  log: LogRecord,
  logIndex: number,
  index: number,
  at: number,
): void {
  const { record } = block;
  if (log.blockHash !== record.hash) {
    wrong(block, index, `logs[${at}].blockHash`, log.blockHash, record.hash, 'the log is of another block');
  }
  if (log.blockNumber !== record.number) {
    wrong(
      block,
      index,
      `logs[${at}].blockNumber`,
      log.blockNumber,
      record.number,
      "it is the block's number",
    );
  }
  if (log.transactionHash !== tx.hash) {
    const because = "it is the transaction's hash";
    wrong(block, index, `logs[${at}].transactionHash`, log.transactionHash, tx.hash, because);
  }
  if (log.transactionIndex !== tx.transactionIndex) {
    const because = "it is the transaction's place";
    wrong(block, index, `logs[${at}].transactionIndex`, log.transactionIndex, tx.transactionIndex, because);
  }
  if (indexOf(log.logIndex) !== logIndex) {
    const expected = `0x${logIndex.toString(16)}`;
    const because = 'logs are numbered through the block';
    wrong(block, index, `logs[${at}].logIndex`, log.logIndex, expected, because);
  }
  if (log.removed) {
    wrong(
      block,
      index,
      `logs[${at}].removed`,
      'true',
      'false',
      'a log of a block that stands is not removed',
    );
  }
  if (log.blockTimestamp !== undefined && log.blockTimestamp !== record.timestamp) {
    const because = "it is the block's timestamp";
    wrong(block, index, `logs[${at}].blockTimestamp`, log.blockTimestamp, record.timestamp, because);
  }
}

/** The number in an index; one of absurd length is none that a block has. */
function indexOf(quantity: string): number {
  return quantity.length <= EXACT_LENGTH ? exactNumber(quantity) : -1;
}

/** Gas used by the block up to and with this receipt, checked against `before`. */
export function checkGas(block: BlockInHand, receipt: ReceiptRecord, index: number, before: number): number {
  const { reader } = block;
  reader.at('receipt', index);
  const used = reader.number(receipt.gasUsed, 'gasUsed');
  const total = reader.number(receipt.cumulativeGasUsed, 'cumulativeGasUsed');
  // before Regolith a deposit's gasUsed is not what it adds to the block's, so there only the direction holds
  const exact = block.strict && !block.hasDeposits;
  if (exact ? total !== before + used : total < before) {
    const expected = exact ? `0x${(before + used).toString(16)}` : `at least 0x${before.toString(16)}`;
    const because = 'gas adds up through the block';
    disagree(block, `receipts[${index}].cumulativeGasUsed`, receipt.cumulativeGasUsed, expected, because);
  }
  return total;
}

/**
 * Checks the address of a new contract. `expected` computes it from the sender and its nonce.
 *
 * A failed creation has it or null, depending on the node. The first generation of the OP stack leaves out the
 * sender, and writes zeros instead of null.
 */
export function checkContract(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
  expected: (nonce: string) => string,
): void {
  if (!block.strict) return;
  const field = `receipts[${index}].contractAddress`;
  const got = receipt.contractAddress;
  if (tx.to !== null) {
    const zeros = got === NO_ADDRESS && receipt.from === undefined;
    if (got !== null && !zeros) disagree(block, field, got, 'null', 'the transaction creates no contract');
    return;
  }
  if (got === null && (hasRoot(receipt) || receipt.status === '0x0')) return;
  const nonce = tx.kind === DEPOSIT ? receipt.depositNonce : tx.nonce;
  if (nonce == null) return;
  const address = expected(nonce);
  if (got !== address) disagree(block, field, got, address, 'it follows from the sender and its nonce');
}
