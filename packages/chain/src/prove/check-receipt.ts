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
  const wrong = (name: string, got: string | null | undefined, expected: string, because: string) =>
    disagree(block, `receipts[${index}].${name}`, got, expected, because);
  if (receipt.blockHash !== record.hash) {
    wrong('blockHash', receipt.blockHash, record.hash, 'the receipt is of another block');
  }
  if (receipt.blockNumber !== record.number) {
    wrong('blockNumber', receipt.blockNumber, record.number, "it is the block's number");
  }
  if (receipt.transactionHash !== tx.hash) {
    wrong('transactionHash', receipt.transactionHash, tx.hash, `it is the hash of transaction ${index}`);
  }
  if (receipt.transactionIndex !== tx.transactionIndex) {
    wrong('transactionIndex', receipt.transactionIndex, tx.transactionIndex, "it is the transaction's place");
  }
  if (receipt.from != null && receipt.from !== tx.from) {
    wrong('from', receipt.from, tx.from, 'it is the sender of the transaction');
  }
  if (receipt.to !== undefined && receipt.to !== tx.to) {
    wrong('to', receipt.to, tx.to ?? 'null', 'it is the recipient of the transaction');
  }
  if (receipt.type != null && tx.type != null && receipt.type !== tx.type) {
    wrong('type', receipt.type, tx.type, "it is the transaction's type");
  }
  checkLogs(block, tx, receipt, index, firstLog);
  if (!block.strict) return;
  if (receipt.effectiveGasPrice != null && tx.gasPrice != null && receipt.effectiveGasPrice !== tx.gasPrice) {
    wrong('effectiveGasPrice', receipt.effectiveGasPrice, tx.gasPrice, "it is the transaction's gasPrice");
  }
  if (tx.kind === 3 && receipt.blobGasUsed != null) {
    const expected = `0x${(GAS_PER_BLOB * (tx.blobVersionedHashes?.length ?? 0)).toString(16)}`;
    if (receipt.blobGasUsed !== expected) {
      wrong('blobGasUsed', receipt.blobGasUsed, expected, 'a blob uses 131072');
    }
  }
}

function checkLogs(
  block: BlockInHand,
  tx: TransactionRecord,
  receipt: ReceiptRecord,
  index: number,
  firstLog: number,
): void {
  const { record } = block;
  for (let at = 0; at < receipt.logs.length; at++) {
    const log = receipt.logs[at]!;
    const wrong = (name: string, got: string, expected: string, because: string) =>
      disagree(block, `receipts[${index}].logs[${at}].${name}`, got, expected, because);
    if (log.blockHash !== record.hash) {
      wrong('blockHash', log.blockHash, record.hash, 'the log is of another block');
    }
    if (log.blockNumber !== record.number) {
      wrong('blockNumber', log.blockNumber, record.number, "it is the block's number");
    }
    if (log.transactionHash !== tx.hash) {
      wrong('transactionHash', log.transactionHash, tx.hash, `it is the hash of transaction ${index}`);
    }
    if (log.transactionIndex !== tx.transactionIndex) {
      wrong('transactionIndex', log.transactionIndex, tx.transactionIndex, "it is the transaction's place");
    }
    if (Number(log.logIndex) !== firstLog + at) {
      wrong(
        'logIndex',
        log.logIndex,
        `0x${(firstLog + at).toString(16)}`,
        'logs are numbered through the block',
      );
    }
    if (log.removed) wrong('removed', 'true', 'false', 'a log of a block that stands is not removed');
    if (log.blockTimestamp != null && log.blockTimestamp !== record.timestamp) {
      wrong('blockTimestamp', log.blockTimestamp, record.timestamp, "it is the block's timestamp");
    }
  }
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
