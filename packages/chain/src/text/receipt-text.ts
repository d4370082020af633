import type { ReceiptRecord } from '../read/receipt.js';
import { member, nullable } from './member.js';

/**
 * The two pieces of a receipt's canonical JSON; between them stands the array of its logs, whose bytes the text of
 * `logs` has too.
 */
export function receiptText(receipt: ReceiptRecord): { head: string; tail: string } {
  const head =
    `{"transactionHash":"${receipt.transactionHash}","transactionIndex":"${receipt.transactionIndex}"` +
    `,"blockHash":"${receipt.blockHash}","blockNumber":"${receipt.blockNumber}"` +
    member('from', receipt.from) +
    member('to', receipt.to) +
    `,"cumulativeGasUsed":"${receipt.cumulativeGasUsed}","gasUsed":"${receipt.gasUsed}"` +
    member('effectiveGasPrice', receipt.effectiveGasPrice) +
    `,"contractAddress":${nullable(receipt.contractAddress)},"logs":[`;
  const tail =
    `],"logsBloom":"${receipt.logsBloom}"` +
    member('type', receipt.type) +
    member('root', receipt.root) +
    member('status', receipt.status) +
    `${receipt.more}}`;
  return { head, tail };
}
