import type { ReceiptRecord } from '../read/receipt.js';
import { member, nullable } from './member.js';

/** Canonical JSON of a receipt; `logs` is the canonical array of its logs, which the text of `logs` uses again. */
export function receiptText(receipt: ReceiptRecord, logs: string): string {
  return (
    `{"transactionHash":"${receipt.transactionHash}","transactionIndex":"${receipt.transactionIndex}"` +
    `,"blockHash":"${receipt.blockHash}","blockNumber":"${receipt.blockNumber}"` +
    member('from', receipt.from) +
    member('to', receipt.to) +
    `,"cumulativeGasUsed":"${receipt.cumulativeGasUsed}","gasUsed":"${receipt.gasUsed}"` +
    member('effectiveGasPrice', receipt.effectiveGasPrice) +
    `,"contractAddress":${nullable(receipt.contractAddress)},"logs":${logs}` +
    `,"logsBloom":"${receipt.logsBloom}"` +
    member('type', receipt.type) +
    member('root', receipt.root) +
    member('status', receipt.status) +
    `${receipt.more}}`
  );
}
