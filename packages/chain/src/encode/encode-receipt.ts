import type { LogRecord } from '../read/log.js';
import { hasRoot, type ReceiptRecord } from '../read/receipt.js';
import { DEPOSIT, type TransactionType } from '../read/transaction.js';
import { dataLength, headerLength, type RlpBuffer } from './rlp-buffer.js';

/**
 * Adds a receipt's encoding as an item: the leaf of the receipts' trie.
 *
 * The state root stands in the place of the status before Byzantium (EIP-658). A deposit's receipt carries its nonce
 * and version only where it has a version: between Regolith and Canyon the nonce is told but not committed to.
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
