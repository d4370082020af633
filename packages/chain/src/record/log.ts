import { addPair, countPresent, getBlockTimestamp, LOG_FIELDS, moreFields, type Pairs } from './fields.js';
import { stringArray } from './json-text.js';
import type { Reader } from './reader.js';

/** Strings that the fields of a transaction's receipt and logs are likely to equal; empty: not known. */
export interface TransactionHints {
  blockHash: string;
  blockNumber: string;
  hash: string;
  index: string;
}

/** Nothing is known. */
export const NO_HINTS: TransactionHints = { blockHash: '', blockNumber: '', hash: '', index: '' };

/** A log in canonical form. */
export type LogRecord = ReturnType<typeof readLog>;

/** Reads one log of a receipt. */
export function readLog(reader: Reader, value: unknown, hints: TransactionHints) {
  const raw = reader.object(value, 'the log');
  const list = reader.array(raw.topics, 'topics');
  if (list.length > 4) reader.fail('topics', 'at most 4 topics', list);
  const topics: string[] = [];
  for (let at = 0; at < list.length; at++) topics.push(reader.bytes(list[at], 'topics', 32));
  const record = {
    /** Nodes of the Parity family omit it. */
    removed: raw.removed === undefined ? false : reader.boolean(raw.removed, 'removed'),
    logIndex: reader.quantity(raw.logIndex, 'logIndex'),
    transactionIndex: reader.quantity(raw.transactionIndex, 'transactionIndex', hints.index),
    transactionHash: reader.bytes(raw.transactionHash, 'transactionHash', 32, hints.hash),
    blockHash: reader.bytes(raw.blockHash, 'blockHash', 32, hints.blockHash),
    blockNumber: reader.quantity(raw.blockNumber, 'blockNumber', hints.blockNumber),
    address: reader.bytes(raw.address, 'address', 20),
    data: reader.data(raw.data, 'data'),
    topics,
    blockTimestamp: getBlockTimestamp(reader, raw),
    /** Of the Parity family: its place among the logs of its transaction. */
    transactionLogIndex: reader.optionalQuantity(raw.transactionLogIndex, 'transactionLogIndex'),
    /** The members that the record's table does not name, as canonical JSON, each after a comma. */
    more: '',
  };
  const pairs: Pairs = [];
  if (reader.keepExtras) addPair(pairs, 'blockTimestamp', record.blockTimestamp);
  if (reader.keepExtras) addPair(pairs, 'transactionLogIndex', record.transactionLogIndex);
  record.more = moreFields(reader, raw, LOG_FIELDS, 8 + countPresent(raw.removed), pairs);
  return record;
}

/** The members of a log between its index and its address: the same for one transaction's logs; one flat string. */
export function logPlace(log: LogRecord): string {
  return [
    `","transactionIndex":"${log.transactionIndex}`,
    `","transactionHash":"${log.transactionHash}`,
    `","blockHash":"${log.blockHash}`,
    `","blockNumber":"${log.blockNumber}","address":"`,
  ].join('');
}

/** Canonical JSON of a log. */
export function logText(log: LogRecord, place = logPlace(log)): string {
  const head = log.removed ? '{"removed":true,"logIndex":"' : '{"removed":false,"logIndex":"';
  const topics = stringArray(log.topics);
  return `${head}${log.logIndex}${place}${log.address}","data":"${log.data}","topics":${topics}${log.more}}`;
}
