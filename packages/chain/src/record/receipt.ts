import {
  addPair,
  countPresent,
  getBlockTimestamp,
  moreFields,
  type Pairs,
  RECEIPT_FIELDS,
} from './fields.js';
import { member, nullable } from './json-text.js';
import { type LogRecord, readLog, type TransactionHints } from './log.js';
import type { Optional, Reader } from './reader.js';

/** A receipt in canonical form; absent fields are undefined. */
export type ReceiptRecord = ReturnType<typeof readReceipt>;

/** Reads one receipt; `index` is its position in the block and `firstLog` the number of logs before it. */
export function readReceipt(
  reader: Reader,
  value: unknown,
  hints: TransactionHints,
  index: number,
  firstLog: number,
) {
  reader.at('receipt', index);
  const raw = reader.object(value, 'the receipt');
  const list = reader.array(raw.logs, 'logs');
  const logs: LogRecord[] = [];
  for (let at = 0; at < list.length; at++) {
    reader.at('log', firstLog + at);
    logs.push(readLog(reader, list[at], hints));
  }
  reader.at('receipt', index);
  const record = {
    transactionHash: reader.bytes(raw.transactionHash, 'transactionHash', 32, hints.hash),
    transactionIndex: reader.quantity(raw.transactionIndex, 'transactionIndex', hints.index),
    blockHash: reader.bytes(raw.blockHash, 'blockHash', 32, hints.blockHash),
    blockNumber: reader.quantity(raw.blockNumber, 'blockNumber', hints.blockNumber),
    /** Old OpenEthereum and the first generation of the OP stack omit both. */
    from: reader.optionalBytes(raw.from, 'from', 20),
    to: raw.to === null ? null : reader.optionalBytes(raw.to, 'to', 20),
    cumulativeGasUsed: reader.quantity(raw.cumulativeGasUsed, 'cumulativeGasUsed'),
    gasUsed: reader.quantity(raw.gasUsed, 'gasUsed'),
    effectiveGasPrice: reader.optionalQuantity(raw.effectiveGasPrice, 'effectiveGasPrice'),
    contractAddress:
      raw.contractAddress === null ? null : reader.bytes(raw.contractAddress, 'contractAddress', 20),
    logs,
    logsBloom: reader.bytes(raw.logsBloom, 'logsBloom', 256),
    type: reader.optionalQuantity(raw.type, 'type'),
    root: readRoot(reader, raw.root),
    status: reader.optionalQuantity(raw.status, 'status'),
    /** Of Celo: in the currency that the fee was paid in (CIP-64). */
    baseFee: reader.optionalQuantity(raw.baseFee, 'baseFee'),
    blobGasPrice: reader.optionalQuantity(raw.blobGasPrice, 'blobGasPrice'),
    blobGasUsed: reader.optionalQuantity(raw.blobGasUsed, 'blobGasUsed'),
    blockTimestamp: getBlockTimestamp(reader, raw),
    /** Of the OP stack since Jovian: `blobGasUsed` is then the transaction's share of the block's. */
    hasFootprint: raw.daFootprintGasScalar != null,
    depositNonce: reader.optionalQuantity(raw.depositNonce, 'depositNonce'),
    depositReceiptVersion: reader.optionalQuantity(raw.depositReceiptVersion, 'depositReceiptVersion'),
    /** The members that the record's table does not name, as canonical JSON, each after a comma. */
    more: '',
  };
  if (!hasRoot(record) && record.status !== '0x0' && record.status !== '0x1') {
    reader.fail('status', '0x0 or 0x1, or a root of 32 bytes in its stead', raw.status);
  }
  const pairs: Pairs = [];
  addPair(pairs, 'baseFee', record.baseFee);
  addPair(pairs, 'blobGasPrice', record.blobGasPrice);
  addPair(pairs, 'blobGasUsed', record.blobGasUsed);
  if (reader.keepExtras) addPair(pairs, 'blockTimestamp', record.blockTimestamp);
  addPair(pairs, 'depositNonce', record.depositNonce);
  addPair(pairs, 'depositReceiptVersion', record.depositReceiptVersion);
  const { from, to, effectiveGasPrice, type, root, status } = raw;
  const optional = countPresent(from, to, effectiveGasPrice, type, root, status);
  record.more = moreFields(reader, raw, RECEIPT_FIELDS, 9 + optional, pairs);
  return record;
}

/** Whether the receipt has the state root from before Byzantium (EIP-658) instead of the status. */
export function hasRoot(receipt: ReceiptRecord): boolean {
  return receipt.root?.length === 66;
}

/** Whether the transaction may have been undone: before Byzantium a receipt does not say so. */
export function isUndone(receipt: ReceiptRecord): boolean {
  return hasRoot(receipt) || receipt.status === '0x0';
}

/** The first generation of the OP stack writes an empty root beside the status. */
function readRoot(reader: Reader, value: unknown): Optional<string> {
  return value === '0x' ? value : reader.optionalBytes(value, 'root', 32);
}

/**
 * The two pieces of a receipt's canonical JSON; between them belongs the array of its logs, whose bytes are in the
 * text of `logs` too.
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
