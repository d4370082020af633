/*
 * The outline of a JSON-RPC answer: where its results stand and which members they have, without looking further into them.
 *
 *   root: an envelope, or an array of envelopes
 *     members of an envelope: jsonrpc, id, result
 *       members of a result: hash, number, transactions
 *         of an array there, or that is the result: how many objects it holds, and where the first one is
 *
 * Whatever is not looked into is only skipped, by its brackets and strings: that it is JSON shows when it is parsed.
 * Anything else that no JSON has, a key with an escape, and more of anything than is usual, is declined.
 */
import * as L from '../../src/layout';
import { bits, bracketLike, fillStrings, hasBackslash, quotes } from '../shared/masks.js';

/** What `objects` of a record is for anything but an array of objects. */
const NO_OBJECTS: u32 = 0xffffffff;
/** An envelope is looked into, and its result. */
const LEVELS: u32 = 2;
/** Members of an object: a block has some 30. */
const MAX_MEMBERS: u32 = 64;

const QUOTE: u32 = 0x22;
const COMMA: u32 = 0x2c;
const COLON: u32 = 0x3a;
const OPEN_ARRAY: u32 = 0x5b;
const BACKSLASH: u32 = 0x5c;
const CLOSE_ARRAY: u32 = 0x5d;
const OPEN_OBJECT: u32 = 0x7b;
const CLOSE_OBJECT: u32 = 0x7d;

let text: usize = 0;
let textEnd: usize = 0;
let records: usize = 0;
let recordsEnd: usize = 0;
/** Where the next record goes, and the next byte to read. */
let next: usize = 0;
let at: usize = 0;

/**
 * Outlines the text at `from`, which zeros follow, into records from `into` on, each a value and
 * before those of its children: start, end, start of its key, length of its key, index of the record behind its
 * children, objects, start and end of the first object; all but the index in bytes from the beginning of the text.
 * Returns how many there are, 0: declined.
 */
export function outline(from: usize, bytes: usize, into: usize, room: usize): u32 {
  text = from;
  textEnd = from + bytes;
  records = into;
  recordsEnd = into + room;
  next = into;
  at = skipSpace(from);
  const ok = load<u8>(at) === OPEN_ARRAY ? batch() : value(at, at, LEVELS);
  if (!ok || skipSpace(at) !== textEnd) return 0;
  return <u32>((next - records) / L.OUTLINED_BYTES);
}

/** Begins the record of the value at `at`; 0 if there is no room. */
function open(keyAt: usize, keyEnd: usize): usize {
  const record = next;
  if (record + L.OUTLINED_BYTES > recordsEnd) return 0;
  next += L.OUTLINED_BYTES;
  store<u32>(record, <u32>(at - text), L.OUTLINED_START);
  store<u32>(record, <u32>(keyAt - text), L.OUTLINED_KEY);
  store<u32>(record, <u32>(keyEnd - keyAt), L.OUTLINED_KEY_LENGTH);
  store<u32>(record, NO_OBJECTS, L.OUTLINED_OBJECTS);
  store<u64>(record, 0, L.OUTLINED_FIRST);
  return record;
}

function close(record: usize): bool {
  store<u32>(record, <u32>(at - text), L.OUTLINED_END);
  store<u32>(record, <u32>((next - records) / L.OUTLINED_BYTES), L.OUTLINED_NEXT);
  return true;
}

/** The array of envelopes at `at`. */
function batch(): bool {
  const record = open(at, at);
  if (record === 0) return false;
  at = skipSpace(at + 1);
  if (load<u8>(at) === CLOSE_ARRAY) {
    at++;
    return close(record);
  }
  while (true) {
    if (!value(at, at, LEVELS)) return false;
    at = skipSpace(at);
    const byte: u32 = load<u8>(at++);
    if (byte === CLOSE_ARRAY) return close(record);
    if (byte !== COMMA) return false;
    at = skipSpace(at);
  }
}

/** The value at `at`; objects are looked into on so many levels. */
function value(keyAt: usize, keyEnd: usize, levels: u32): bool {
  const record = open(keyAt, keyEnd);
  if (record === 0) return false;
  const byte: u32 = load<u8>(at);
  if (byte === OPEN_OBJECT) {
    if (levels > 0) return members(levels - 1) && close(record);
    at = skipNested(at);
  } else if (byte === OPEN_ARRAY) {
    at = skipArray(record);
  } else if (byte === QUOTE) {
    at = skipString(at + 1);
  } else {
    at = skipWord(at);
  }
  return at !== 0 && close(record);
}

function members(levels: u32): bool {
  at = skipSpace(at + 1);
  if (load<u8>(at) === CLOSE_OBJECT) {
    at++;
    return true;
  }
  for (let count: u32 = 0; count < MAX_MEMBERS; count++) {
    if (load<u8>(at) !== QUOTE) return false;
    const keyAt = at + 1;
    const keyEnd = plainEnd(keyAt);
    if (load<u8>(keyEnd) !== QUOTE) return false;
    at = skipSpace(keyEnd + 1);
    if (load<u8>(at) !== COLON) return false;
    at = skipSpace(at + 1);
    if (!value(keyAt, keyEnd, levels)) return false;
    at = skipSpace(at);
    const byte: u32 = load<u8>(at++);
    if (byte === CLOSE_OBJECT) return true;
    if (byte !== COMMA) return false;
    at = skipSpace(at);
  }
  return false;
}

/** Skips the array at `at`, and notes its objects if it has nothing else. Returns the address behind it, 0: declined. */
function skipArray(record: usize): usize {
  let count: u32 = 0;
  let first: usize = 0;
  let firstEnd: usize = 0;
  let from = skipSpace(at + 1);
  if (load<u8>(from) === CLOSE_ARRAY) {
    store<u32>(record, 0, L.OUTLINED_OBJECTS);
    return from + 1;
  }
  while (true) {
    if (load<u8>(from) !== OPEN_OBJECT) return skipNested(at);
    let end = skipNested(from);
    if (end === 0) return 0;
    if (count++ === 0) {
      first = from;
      firstEnd = end;
    }
    end = skipSpace(end);
    const byte: u32 = load<u8>(end);
    if (byte === CLOSE_ARRAY) {
      store<u32>(record, count, L.OUTLINED_OBJECTS);
      store<u32>(record, <u32>(first - text), L.OUTLINED_FIRST);
      store<u32>(record, <u32>(firstEnd - text), L.OUTLINED_FIRST_END);
      return end + 1;
    }
    if (byte !== COMMA) return 0;
    from = skipSpace(end + 1);
  }
}

/**
 * Returns the address behind the array or object at `from`, 0 if it does not end. It compares 64 bytes at a time: each
 * quote flips whether what follows is within a string, and brackets count outside of strings only.
 */
function skipNested(from: usize): usize {
  let depth: i32 = 0;
  /** All bits, or none. */
  let inString: u64 = 0;
  let escaped = false;
  for (let block = from; block < textEnd; block += 64) {
    const a = v128.load(block);
    const b = v128.load(block, 16);
    const c = v128.load(block, 32);
    const d = v128.load(block, 48);
    if (escaped || hasBackslash(a, b, c, d)) {
      for (let each = block; each < block + 64; each++) {
        const byte: u32 = load<u8>(each);
        if (escaped) escaped = false;
        else if (byte === QUOTE) inString = ~inString;
        else if (inString !== 0) escaped = byte === BACKSLASH;
        else if (byte === BACKSLASH) return 0;
        else if ((byte & 0xd9) === 0x59) {
          depth = depthAfter(byte, depth);
          if (depth <= 0) return depth === 0 ? each + 1 : 0;
        }
      }
      continue;
    }
    const within = fillStrings(bits(quotes(a), quotes(b), quotes(c), quotes(d))) ^ inString;
    inString = <u64>(<i64>within >> 63);
    let found = bits(bracketLike(a), bracketLike(b), bracketLike(c), bracketLike(d)) & ~within;
    while (found !== 0) {
      const each = block + <usize>ctz(found);
      depth = depthAfter(load<u8>(each), depth);
      if (depth <= 0) return depth === 0 ? each + 1 : 0;
      found &= found - 1;
    }
  }
  return 0;
}

/** How many brackets are open behind this one; -1 if it is none, or one too many. */
function depthAfter(byte: u32, depth: i32): i32 {
  // Square and curly brackets are 0x20 apart.
  if ((byte | 0x20) === OPEN_OBJECT) return depth < L.MAX_DEPTH ? depth + 1 : -1;
  return (byte | 0x20) === CLOSE_OBJECT ? depth - 1 : -1;
}

/** Returns the address behind the string whose first character is at `from`, 0 if it does not end. */
function skipString(from: usize): usize {
  while (true) {
    from = plainEnd(from);
    const byte: u32 = load<u8>(from);
    if (byte === QUOTE) return from + 1;
    if (byte !== BACKSLASH) return 0;
    from += 2;
  }
}

/** The next quote, backslash or control character: the zeros behind the text are such. */
function plainEnd(from: usize): usize {
  while (true) {
    const bytes = v128.load(from);
    const control = i8x16.lt_u(bytes, i8x16.splat(0x20));
    const backslash = i8x16.eq(bytes, i8x16.splat(0x5c));
    const found = <u32>i8x16.bitmask(v128.or(v128.or(quotes(bytes), backslash), control));
    if (found !== 0) return from + <usize>ctz(found);
    from += 16;
  }
}

/** Returns the address behind the number or word at `from`, 0 if there is none. */
function skipWord(from: usize): usize {
  let end = from;
  for (; ; end++) {
    const byte: u32 = load<u8>(end);
    const isLetter = (byte | 0x20) - 0x61 < 26;
    const isDigit = byte - 0x30 < 10;
    if (!isLetter && !isDigit && byte !== 0x2d && byte !== 0x2b && byte !== 0x2e) break;
  }
  return end === from ? 0 : end;
}

function skipSpace(from: usize): usize {
  while (true) {
    const byte: u32 = load<u8>(from);
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return from;
    from++;
  }
}
