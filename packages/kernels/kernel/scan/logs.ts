/* The logs of a receipt: canonical text, their bloom and their RLP, and who logged in a transaction. */

import { beginList, endList, putData } from '../shared/rlp';
import { HASH, NUMBER, TIMESTAMP } from './block';
import { addToBloom } from './bloom';
import * as F from './fields';
import { region } from './memory';
import { readObject } from './object';
import {
  digitsAt,
  getDigits,
  getLength,
  getNumber,
  has,
  isFact,
  LOG_SLOTS as LOG,
  lacks,
  set,
  valueAt,
} from './slots';
import { CLOSE_LIST, COMMA, OPEN_LIST, same } from './text';
import { getHash, INDEX, isKept } from './transactions';
import { writeObject } from './write';

/** No log's JSON is shorter: two hashes, an address and the names of nine fields. */
const SHORTEST: usize = 256;
/** Topics with quotes and comma. */
const TOPIC_LENGTH: usize = 69;

/** `false` */
const FALSE: usize = memory.data<u8>([102, 97, 108, 115, 101, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/** What is kept of a log: address, topics, data, digits of the data, number of topics (u32). */
const KEPT: usize = 32;
let kept: usize = 0;
let most: u32 = 0;
let count: u32 = 0;
let first: u32 = 0;
/** The transaction whose receipt is read. */
let owner: u32 = 0;

let to: usize = 0;
let end: usize = 0;
let listStart: usize = 0;

/** Begins the logs of a block, in an answer of so many bytes, whose text is written up to `textEnd`. */
export function openLogs(bytes: usize, text: usize, textEnd: usize): bool {
  most = <u32>(bytes / SHORTEST);
  kept = region(<usize>most * KEPT);
  count = 0;
  to = text;
  end = textEnd;
  store<u8>(to++, OPEN_LIST);
  return kept !== 0;
}

/** Begins the logs of a transaction's receipt. */
export function openReceipt(transaction: u32): void {
  owner = transaction;
  first = count;
  listStart = to;
}

/** Ends all logs; returns the address behind their text. */
export function closeLogs(): usize {
  store<u8>(to++, CLOSE_LIST);
  return to;
}

/** The text of the logs of the last receipt, without brackets. */
export function logsFrom(): usize {
  return count > first && first > 0 ? listStart + 1 : listStart;
}
export function logsLength(): usize {
  return to - logsFrom();
}

/** Number of the first log of the receipt, and of the one behind its last. */
export function firstLog(): u32 {
  return first;
}
export function logCount(): u32 {
  return count;
}
/** Address of the first digit of who logged. */
export function getLogger(log: u32): usize {
  return <usize>load<u32>(kept + KEPT * <usize>log);
}

/** Reads the array of logs at `p` and writes its text behind that of the receipts before. */
export function logList(p: usize): usize {
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  if (<u32>load<u8>(p) === CLOSE_LIST) return p + 1;
  while (true) {
    if (count === most || to + 1 > end) return 0;
    if (count > 0) store<u8>(to++, COMMA);
    p = readObject(p, F.LOG, LOG);
    if (p === 0) return 0;
    // The Parity family omits it.
    if (!has(LOG, F.LOG_REMOVED)) set(LOG, F.LOG_REMOVED, FALSE, 5);
    to = writeObject(to, end, F.LOG, LOG);
    // All required fields are there from here on.
    if (to === 0 || !isOfReceipt()) return 0;
    keep();
    count++;
    const byte = <u32>load<u8>(p++);
    if (byte === CLOSE_LIST) return p;
    if (byte !== COMMA) return 0;
  }
}

function keep(): void {
  const at = kept + KEPT * <usize>count;
  store<u32>(at, <u32>digitsAt(LOG, F.LOG_ADDRESS));
  store<u32>(at, <u32>valueAt(LOG, F.LOG_TOPICS), 4);
  store<u32>(at, <u32>digitsAt(LOG, F.LOG_DATA), 8);
  store<u32>(at, <u32>getDigits(LOG, F.LOG_DATA), 12);
  store<u32>(at, <u32>((getLength(LOG, F.LOG_TOPICS) - 1) / TOPIC_LENGTH), 16);
}

/** Whether a log is of this block, this transaction and this place, and stands. */
function isOfReceipt(): bool {
  if (!same(valueAt(LOG, F.LOG_BLOCK_HASH), HASH, 68)) return false;
  if (!isFact(LOG, F.LOG_BLOCK_NUMBER, NUMBER)) return false;
  if (!same(valueAt(LOG, F.LOG_TRANSACTION_HASH), getHash(owner), 68)) return false;
  if (!isKept(LOG, F.LOG_TRANSACTION_INDEX, owner, INDEX)) return false;
  if (has(LOG, F.LOG_BLOCK_TIMESTAMP) && !isFact(LOG, F.LOG_BLOCK_TIMESTAMP, TIMESTAMP)) return false;
  if (load<u8>(valueAt(LOG, F.LOG_REMOVED)) !== 0x66) return false;
  if (!lacks(LOG, F.LOG_TRANSACTION_LOG_INDEX)) {
    if (getNumber(LOG, F.LOG_TRANSACTION_LOG_INDEX) !== <u64>(count - first)) return false;
  }
  return getNumber(LOG, F.LOG_LOG_INDEX) === <u64>count;
}

/** Puts the receipt's logs into its RLP and their addresses and topics into the bloom. */
export function putLogs(): void {
  const list = beginList();
  for (let log = first; log < count; log++) {
    const at = kept + KEPT * <usize>log;
    const address = <usize>load<u32>(at);
    const entry = beginList();
    putData(address, 40);
    addToBloom(address, 40);
    const topics = beginList();
    let topic = <usize>load<u32>(at, 4) + 4;
    for (let i: u32 = 0; i < load<u32>(at, 16); i++) {
      putData(topic, 64);
      addToBloom(topic, 64);
      topic += TOPIC_LENGTH;
    }
    endList(topics);
    putData(<usize>load<u32>(at, 8), <usize>load<u32>(at, 12));
    endList(entry);
  }
  endList(list);
}
