/*
 * The items of skip filters (docs/formats.md) in canonical text of logs, transactions and traces: each once, as the first
 * 10 bytes of SHA-256 of a seed and the item, which is what a filter keeps of it.
 *
 * It finds what it is sure of or declines the text. In valid JSON a quote, a name, a quote and a colon are a member, for
 * quotes inside of strings stand behind a backslash. Members of these names in parts of a record that nobody looks at are
 * items, too, which makes a filter larger and never wrong.
 */
import * as L from '../../src/layout';
import { keccak } from '../shared/keccak.js';
import { hashFour } from './sha256.js';

const QUOTE: u8 = 0x22;
const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
const OPEN_LIST: u8 = 0x5b;
const BACKSLASH: u8 = 0x5c;
const CLOSE_LIST: u8 = 0x5d;
const OPEN: u8 = 0x7b;
const CLOSE: u8 = 0x7d;

// Parts of text as little-endian numbers; the long ones in halves.
const QUOTE_0X: u32 = 0x783022;
const NULL: u32 = 0x6c6c756e;
const ADDRESS: u64 = ((<u64>0x22737365) << 32) | 0x72646461; // address"
const TOPICS: u64 = ((<u64>0x3a227363) << 32) | 0x69706f74; // topics":
const TO: u64 = 0x3a226f74; // to":
const FROM: u64 = 0x3a226d6f7266; // from":
const TYPE: u64 = 0x3a2265707974; // type":
const NONCE: u64 = ((<u64>0x3a2265) << 32) | 0x636e6f6e; // nonce":
const AUTHOR: u64 = ((<u64>0x3a22726f) << 32) | 0x68747561; // author":
const REFUND: u64 = ((<u64>0x6441646e) << 32) | 0x75666572; // refundAd
const DRESS: u64 = ((<u64>0x3a2273) << 32) | 0x73657264; // dress":
const DEPOSIT: u64 = 0x226537783022; // "0x7e"
const FOUR: u64 = 0xffffffff;
const SIX: u64 = 0xffffffffffff;
const SEVEN: u64 = ((<u64>0xffffff) << 32) | 0xffffffff;

const ADDRESS_BYTES: usize = 20;
const TOPIC_BYTES: usize = 32;
/** `"0x…"` with an address and with a topic. */
const ADDRESS_TEXT: usize = 44;
const TOPIC_TEXT: usize = 68;
const MAX_TOPICS: u32 = 4;

/** An item is kept as the block that is hashed: the seed, the item, and padding. */
const BLOCK: usize = 64;
/** Numbers of items by their hash, counted from 1; a text with more items than three quarters of them is declined. */
const SLOTS: usize = 65_536;
const TABLE = memory.data(65_536 * 4, 16);
const MOST: usize = 49_152;
const GROWTH: i32 = 16;
const PAGE: usize = 65_536;

/** The address of the last log, and its first topic. */
const ACCOUNT = memory.data(24, 16);
const TOPIC = memory.data(32, 16);
/** What keccak hashes for a creation, and the hash: 32 bytes at most. */
const CREATION = memory.data(40, 16);

let seed: u8 = 0;
/** The items, and the place of the next one. */
let blocksAt: usize = 0;
let next: usize = 0;
let count: usize = 0;
let mask: usize = 0;
let end: usize = 0;

/**
 * Finds the items of the text `from` to `to`, behind which 64 bytes are free, and leaves their hashes at `room`, where
 * memory may grow. Returns how many there are; -1: declined.
 */
export function findItems(kind: u32, seedOfAll: u32, from: usize, to: usize, room: usize): i32 {
  seed = <u8>seedOfAll;
  end = to;
  blocksAt = room;
  next = room;
  count = 0;
  // A text of so many bytes cannot have more items.
  mask = 1_023;
  while (mask + 1 < SLOTS && mask * 32 < to - from) mask = mask * 2 + 1;
  memory.fill(TABLE, 0, (mask + 1) << 2);
  memory.fill(to, 0, BLOCK);
  if (!makeRoom()) return -1;
  let found = false;
  if (kind === L.ITEMS_OF_LOGS) found = scanLogs(from);
  else if (kind === L.ITEMS_OF_TRANSACTIONS) found = scanTransactions(from);
  else if (kind === L.ITEMS_OF_TRACES) found = scanTraces(from);
  if (!found) return -1;
  for (let nth: usize = 0; nth < count; nth += 4)
    hashFour(blocksAt + nth * BLOCK, blocksAt + nth * L.DIGEST_BYTES);
  return <i32>count;
}

/** The address of a log stands before its topics. */
function scanLogs(from: usize): bool {
  const quotes = i8x16.splat(QUOTE);
  let waiting = false;
  for (let at = from; at < end; at += 16) {
    for (let bits = i8x16.bitmask(i8x16.eq(v128.load(at), quotes)); bits !== 0; bits &= bits - 1) {
      const name = at + ctz(bits) + 1;
      const eight = load<u64>(name);
      if (eight === ADDRESS && load<u8>(name + 8) === COLON) {
        if (waiting || !addAddress(name + 9)) return false;
        waiting = true;
      } else if (eight === TOPICS) {
        if (!waiting || !addTopics(name + 8)) return false;
        waiting = false;
      }
    }
  }
  return !waiting;
}

function scanTraces(from: usize): bool {
  const quotes = i8x16.splat(QUOTE);
  for (let at = from; at < end; at += 16) {
    for (let bits = i8x16.bitmask(i8x16.eq(v128.load(at), quotes)); bits !== 0; bits &= bits - 1) {
      const name = at + ctz(bits) + 1;
      const eight = load<u64>(name);
      let value: usize = 0;
      if ((eight & FOUR) === TO) value = name + 4;
      else if ((eight & SIX) === FROM) value = name + 6;
      else if (eight === AUTHOR) value = name + 8;
      else if (eight === ADDRESS && load<u8>(name + 8) === COLON) value = name + 9;
      else if (eight === REFUND && (load<u64>(name + 8) & SEVEN) === DRESS) value = name + 15;
      if (value !== 0 && load<u32>(value) !== NULL && !addAddress(value)) return false;
    }
  }
  return true;
}

/** Members of a transaction itself are found by the depth of braces: authorizations have nonces, too. */
function scanTransactions(from: usize): bool {
  const quotes = i8x16.splat(QUOTE);
  const opening = i8x16.splat(OPEN);
  const closing = i8x16.splat(CLOSE);
  const slashes = i8x16.splat(BACKSLASH);
  let inString = false;
  let depth = 0;
  let sender: usize = 0;
  let nonce: usize = 0;
  let receiver: usize = 0;
  let deposit = false;
  for (let at = from; at < end; at += 16) {
    const bytes = v128.load(at);
    const braces = v128.or(i8x16.eq(bytes, opening), i8x16.eq(bytes, closing));
    const strings = v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, slashes));
    for (let bits = i8x16.bitmask(v128.or(braces, strings)); bits !== 0; bits &= bits - 1) {
      const place = at + ctz(bits);
      const byte = load<u8>(place);
      if (byte === BACKSLASH) return false;
      if (byte === QUOTE) {
        inString = !inString;
        if (!inString || depth !== 1) continue;
        const eight = load<u64>(place + 1);
        if ((eight & FOUR) === TO) receiver = place + 5;
        else if ((eight & SIX) === FROM) sender = place + 7;
        else if ((eight & SEVEN) === NONCE) nonce = place + 8;
        else if ((eight & SIX) === TYPE) deposit = (load<u64>(place + 7) & SIX) === DEPOSIT;
      } else if (inString) {
        return false;
      } else if (byte === OPEN) {
        if (++depth > 1) continue;
        sender = nonce = receiver = 0;
        deposit = false;
      } else if (--depth === 0) {
        if (sender === 0 || !addAddress(sender)) return false;
        if (receiver !== 0 && load<u32>(receiver) !== NULL) {
          if (!addAddress(receiver)) return false;
        } else if (!deposit && !addCreated(sender, nonce)) {
          return false;
        }
      }
    }
  }
  return depth === 0 && !inString;
}

/** Adds the address whose text, with its quotes, begins here; false if there is none. */
function addAddress(at: usize): bool {
  if (at + ADDRESS_TEXT + 1 > end || (load<u32>(at) & 0xffffff) !== QUOTE_0X) return false;
  if (load<u8>(at + ADDRESS_TEXT - 1) !== QUOTE) return false;
  open();
  const item = next + 1;
  // The digits that two of them share are the same.
  if (!decode(at + 3, item) || !decode(at + 19, item + 8) || !decode(at + 27, item + 12)) return false;
  memory.copy(ACCOUNT, item, ADDRESS_BYTES);
  return close(ADDRESS_BYTES);
}

/** Adds the topics of the list that begins here, and the last address with the first of them. */
function addTopics(at: usize): bool {
  if (load<u8>(at) !== OPEN_LIST) return false;
  let topic = at + 1;
  if (load<u8>(topic) === CLOSE_LIST) return true;
  for (let nth: u32 = 0; nth < MAX_TOPICS; nth++) {
    if (!addTopic(topic) || (nth === 0 && !addPair())) return false;
    const behind = load<u8>(topic + TOPIC_TEXT);
    if (behind === CLOSE_LIST) return true;
    if (behind !== COMMA) return false;
    topic += TOPIC_TEXT + 1;
  }
  return false;
}

function addTopic(at: usize): bool {
  if (at + TOPIC_TEXT + 1 > end || (load<u32>(at) & 0xffffff) !== QUOTE_0X) return false;
  if (load<u8>(at + TOPIC_TEXT - 1) !== QUOTE) return false;
  open();
  const item = next + 1;
  for (let part: usize = 0; part < 4; part++) {
    if (!decode(at + 3 + (part << 4), item + (part << 3))) return false;
  }
  memory.copy(TOPIC, item, TOPIC_BYTES);
  return close(TOPIC_BYTES);
}

function addPair(): bool {
  open();
  memory.copy(next + 1, ACCOUNT, ADDRESS_BYTES);
  memory.copy(next + 1 + ADDRESS_BYTES, TOPIC, TOPIC_BYTES);
  return close(ADDRESS_BYTES + TOPIC_BYTES);
}

/** Adds the address that a transaction creates: the end of keccak(rlp([sender, nonce])). */
function addCreated(sender: usize, nonceText: usize): bool {
  if (nonceText === 0 || (load<u32>(nonceText) & 0xffffff) !== QUOTE_0X) return false;
  let nonce: u64 = 0;
  let digits = 0;
  let at = nonceText + 3;
  for (; digits <= 16 && load<u8>(at) !== QUOTE; at++, digits++) {
    const value = toDigit(load<u8>(at));
    if (value > 15) return false;
    nonce = (nonce << 4) | value;
  }
  // One with zeros before it is not canonical.
  if (digits === 0 || digits > 16 || (digits > 1 && load<u8>(nonceText + 3) === 0x30)) return false;
  const account = CREATION + 2;
  if (
    !decode(sender + 3, account) ||
    !decode(sender + 19, account + 8) ||
    !decode(sender + 27, account + 12)
  ) {
    return false;
  }
  store<u8>(CREATION + 1, 0x80 + ADDRESS_BYTES);
  let length: usize = 1 + ADDRESS_BYTES;
  if (nonce !== 0 && nonce < 0x80) {
    store<u8>(CREATION + 1 + length++, <u8>nonce);
  } else {
    const bytes = (64 - <u32>clz<u64>(nonce) + 7) >> 3;
    store<u8>(CREATION + 1 + length++, <u8>(0x80 + bytes));
    for (let byte = bytes; byte > 0; byte--) {
      store<u8>(CREATION + 1 + length++, <u8>(nonce >> ((<u64>(byte - 1)) << 3)));
    }
  }
  store<u8>(CREATION, <u8>(0xc0 + length));
  keccak(CREATION, length + 1, CREATION);
  open();
  memory.copy(next + 1, CREATION + 12, ADDRESS_BYTES);
  return close(ADDRESS_BYTES);
}

/** The value of a lower-case hex digit; more than 15 if it is none. */
function toDigit(character: u8): u64 {
  if (character >= 0x30 && character <= 0x39) return character - 0x30;
  return character >= 0x61 && character <= 0x66 ? character - 0x57 : 16;
}

/** Decodes 16 lower-case hex digits; false if one is none. */
function decode(at: usize, to: usize): bool {
  const characters = v128.load(at);
  const digits = i8x16.sub(characters, i8x16.splat(0x30));
  const letters = i8x16.sub(characters, i8x16.splat(0x61));
  const isDigit = i8x16.lt_u(digits, i8x16.splat(10));
  const isLetter = i8x16.lt_u(letters, i8x16.splat(6));
  if (!i8x16.all_true(v128.or(isDigit, isLetter))) return false;
  const values = v128.bitselect(digits, i8x16.add(letters, i8x16.splat(10)), isDigit);
  // Of each pair, the first digit is in the lower byte.
  const bytes = v128.or(i16x8.shl(values, 4), i16x8.shr_u(values, 8));
  const packed = i8x16.shuffle(bytes, bytes, 0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14);
  store<u64>(to, i64x2.extract_lane(packed, 0));
  return true;
}

/** Begins an item; it is not there until `close`. */
function open(): void {
  for (let at: usize = 0; at < BLOCK; at += 16) v128.store(next + at, i64x2.splat(0));
  store<u8>(next, seed);
}

/** Ends the item of so many bytes, and forgets it if it is there already. Returns false if it is one too many. */
function close(bytes: usize): bool {
  store<u8>(next + 1 + bytes, 0x80);
  store<u16>(next + BLOCK - 2, bswap<u16>(<u16>((1 + bytes) << 3)));
  let slot = getHash(next) & mask;
  for (; ; slot = (slot + 1) & mask) {
    const other = load<u32>(TABLE + (slot << 2));
    if (other === 0) break;
    if (isSame(next, blocksAt + <usize>(other - 1) * BLOCK)) return true;
  }
  if (count === MOST) return false;
  store<u32>(TABLE + (slot << 2), <u32>++count);
  next += BLOCK;
  return makeRoom();
}

function getHash(block: usize): usize {
  let hash = load<u64>(block + 1) ^ rotl<u64>(load<u64>(block + 9), 23);
  hash ^= rotl<u64>(load<u64>(block + 13), 41) ^ rotl<u64>(load<u64>(block + 25), 7);
  hash ^= rotl<u64>(load<u64>(block + 45), 31);
  // biome-ignore lint/correctness/noPrecisionLoss: here it is an integer of 64 bits.
  return <usize>((hash * 0x9e3779b97f4a7c15) >> 40);
}

function isSame(a: usize, b: usize): bool {
  const first = v128.or(v128.xor(v128.load(a), v128.load(b)), v128.xor(v128.load(a + 16), v128.load(b + 16)));
  const second = v128.or(
    v128.xor(v128.load(a + 32), v128.load(b + 32)),
    v128.xor(v128.load(a + 48), v128.load(b + 48)),
  );
  return !v128.any_true(v128.or(first, second));
}

/** Room for the next item and three more, for they are hashed by fours. */
function makeRoom(): bool {
  if (next + 4 * BLOCK <= <usize>memory.size() * PAGE) return true;
  return memory.grow(GROWTH) >= 0;
}
