import type { Keccak } from '@packhouse/chain';
import {
  type Answer,
  blockLength,
  getBloom,
  headerBytes,
  type Json,
  receiptBytes,
  toData,
  transactionBytes,
  trieRoot,
  withdrawalBytes,
} from './encode.js';

/** Writes the bloom of each receipt. */
export function fillBlooms({ receipts }: Answer, keccak: Keccak): void {
  for (const receipt of receipts) {
    const values = receipt.logs.flatMap(({ address, topics }) => [String(address), ...topics]);
    receipt.logsBloom = toData(getBloom(values, keccak));
  }
}

/**
 * Makes the hashes and roots of a block right, and names the places of all its records: whatever the records say
 * otherwise, true or not, the header commits to it. `unknown` are further header fields.
 */
export function seal(answer: Answer, keccak: Keccak, unknown: readonly string[] = []): Answer {
  const { block, receipts, traces } = answer;
  const { transactions } = block;
  const leaves = transactions.map(transactionBytes);
  for (const [index, tx] of transactions.entries()) tx.hash = toData(keccak.hash(leaves[index]!));
  block.transactionsRoot = trieRoot(leaves, keccak);
  const types = transactions.map(({ type }) => Number(type ?? 0));
  const ofReceipts = receipts.map((receipt, index) => receiptBytes(receipt, types[index] ?? 0));
  block.receiptsRoot = trieRoot(ofReceipts, keccak);
  const bloom = Buffer.alloc(256);
  for (const { logsBloom } of receipts) {
    const of = Buffer.from(String(logsBloom).slice(2), 'hex');
    for (let at = 0; at < 256; at++) bloom[at]! |= of[at]!;
  }
  block.logsBloom = toData(bloom);
  if (Array.isArray(block.withdrawals))
    block.withdrawalsRoot = trieRoot((block.withdrawals as Json[]).map(withdrawalBytes), keccak);
  const header = headerBytes(block, unknown);
  block.hash = toData(keccak.hash(header));
  block.size = `0x${blockLength(block, header).toString(16)}`;
  const ofBlock = { blockHash: block.hash, blockNumber: block.number };
  let logIndex = 0;
  for (const [index, tx] of transactions.entries())
    Object.assign(tx, ofBlock, { transactionIndex: `0x${index.toString(16)}` });
  for (const [index, receipt] of receipts.entries()) {
    const transactionIndex = `0x${index.toString(16)}`;
    const place = { ...ofBlock, transactionHash: transactions[index]?.hash ?? '0x', transactionIndex };
    Object.assign(receipt, place);
    for (const log of receipt.logs) Object.assign(log, place, { logIndex: `0x${(logIndex++).toString(16)}` });
  }
  let position = -1;
  for (const trace of traces) {
    Object.assign(trace, { blockHash: block.hash, blockNumber: Number(block.number) });
    if (trace.type === 'reward') continue;
    if ((trace.traceAddress as unknown[]).length === 0) position++;
    const transactionHash = transactions[position]?.hash ?? '0x';
    Object.assign(trace, { transactionHash, transactionPosition: position });
  }
  return answer;
}
