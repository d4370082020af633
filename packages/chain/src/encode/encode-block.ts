import type { BlockRecord, Withdrawal } from '../record/block.js';
import type { LogRecord } from '../record/log.js';
import { hasRoot, type ReceiptRecord } from '../record/receipt.js';
import { DEPOSIT, type TransactionType } from '../record/transaction.js';
import { dataLength, headerLength, type RlpBuffer } from './rlp-buffer.js';

/**
 * Adds RLP(header) as an item; keccak of it is the block's hash.
 *
 * The 15 fields of Frontier, then those that forks appended, each if the node has it: EIP-1559 (London),
 * EIP-4895 (Shanghai), EIP-4844 and EIP-4788 (Cancun), EIP-7685 (Prague; Osaka adds none).
 */
export function encodeHeader(rlp: RlpBuffer, block: BlockRecord): void {
  const payload = rlp.beginItem();
  rlp.data(block.parentHash);
  rlp.data(block.sha3Uncles);
  rlp.data(block.miner);
  rlp.data(block.stateRoot);
  rlp.data(block.transactionsRoot);
  rlp.data(block.receiptsRoot);
  rlp.data(block.logsBloom);
  rlp.quantity(block.difficulty);
  rlp.quantity(block.number);
  rlp.quantity(block.gasLimit);
  rlp.quantity(block.gasUsed);
  rlp.quantity(block.timestamp);
  rlp.data(block.extraData);
  if (block.mixHash != null) rlp.data(block.mixHash);
  if (block.nonce != null) rlp.data(block.nonce);
  if (block.baseFeePerGas != null) rlp.quantity(block.baseFeePerGas);
  if (block.withdrawalsRoot != null) rlp.data(block.withdrawalsRoot);
  if (block.blobGasUsed != null) rlp.quantity(block.blobGasUsed);
  if (block.excessBlobGas != null) rlp.quantity(block.excessBlobGas);
  if (block.parentBeaconBlockRoot != null) rlp.data(block.parentBeaconBlockRoot);
  if (block.requestsHash != null) rlp.data(block.requestsHash);
  rlp.endItem(payload);
}

/** Adds a withdrawal's encoding as an item: the leaf of the withdrawals' trie (EIP-4895). */
export function encodeWithdrawal(rlp: RlpBuffer, withdrawal: Withdrawal): void {
  const payload = rlp.beginItem();
  rlp.quantity(withdrawal.index);
  rlp.quantity(withdrawal.validatorIndex);
  rlp.data(withdrawal.address);
  rlp.quantity(withdrawal.amount);
  rlp.endItem(payload);
}

/**
 * Adds a receipt's encoding as an item: the leaf of the receipts' trie.
 *
 * Before Byzantium the state root takes the place of the status (EIP-658). A deposit's nonce and version are encoded
 * only if there is a version: between Regolith and Canyon nodes return the nonce, but no header commits to it.
 */
export function encodeReceipt(rlp: RlpBuffer, receipt: ReceiptRecord, kind: TransactionType): void {
  const payload = rlp.beginItem();
  if (hasRoot(receipt)) rlp.data(receipt.root!);
  else rlp.quantity(receipt.status!);
  rlp.quantity(receipt.cumulativeGasUsed);
  rlp.data(receipt.logsBloom);
  let length = 0;
  for (const log of receipt.logs) {
    const inner = logLength(log);
    length += headerLength(inner) + inner;
  }
  rlp.list(length);
  for (const log of receipt.logs) {
    rlp.list(logLength(log));
    rlp.data(log.address);
    rlp.list(33 * log.topics.length);
    for (const topic of log.topics) rlp.data(topic);
    rlp.data(log.data);
  }
  if (kind === DEPOSIT && receipt.depositReceiptVersion != null) {
    rlp.quantity(receipt.depositNonce ?? '0x0');
    rlp.quantity(receipt.depositReceiptVersion);
  }
  rlp.endItem(payload, kind);
}

function logLength(log: LogRecord): number {
  const topics = 33 * log.topics.length;
  return 21 + headerLength(topics) + topics + dataLength(log.data);
}
