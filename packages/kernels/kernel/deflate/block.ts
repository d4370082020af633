/*
 * Blocks of DEFLATE (RFC 1951, 3.2.3 to 3.2.7), from tokens: a run of literals, then a match, either of which may be
 * missing. A block has codes of its own, or is stored as it is where that is shorter.
 */
import { address, align, bitsCount, bitsWaiting, flush, put, resume, skip } from './bits.js';
import { makeCodes } from './huffman.js';

const END_OF_BLOCK: u32 = 256;
const FIRST_LENGTH: u32 = 257;
/** Symbols of literals and lengths, of distances, and of the lengths of their codes. */
const SYMBOLS: u32 = 286;
const DISTANCES: u32 = 30;
const CODE_LENGTHS: u32 = 19;
/** Four literals of 14 bits fit behind the 7 that may wait; a match of 14 + 5 + 15 + 13 does, too. */
const MAX_CODE_BITS: u32 = 14;
const MAX_DISTANCE_CODE_BITS: u32 = 15;
const MAX_CODE_LENGTH_BITS: u32 = 7;
const MAX_STORED_LENGTH: usize = 65_535;
/** Literals of a token at most: they have 16 bits. */
const MAX_RUN_LENGTH: usize = 65_535;

/** Four tables of counts of literals: adding to the same word twice in a row would wait for memory. */
const LITERALS = memory.data(4 * 1024, 16);
const COUNTS = memory.data(288 * 4, 16);
const DISTANCE_COUNTS = memory.data(32 * 4, 16);
const CODE_LENGTH_COUNTS = memory.data(20 * 4, 16);
const CODES = memory.data(288 * 4, 16);
const DISTANCE_CODES = memory.data(32 * 4, 16);
const CODE_LENGTH_CODES = memory.data(20 * 4, 16);
/** The symbol of each match length: symbol | extra bits << 16 | first length of the symbol << 20. */
const LENGTH_SYMBOLS = memory.data(259 * 4, 16);
/** Lengths of codes as runs: symbol | its extra bits << 8. */
const RUNS = memory.data((288 + 32) * 4, 16);
/** The order in which lengths of code-length codes are sent. */
const ORDER = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);

let ready = false;
let tokensAt: usize = 0;
let tokens: usize = 0;
let runs: u32 = 0;
/** How many lengths of each kind the header of a block has. */
let sentSymbols: u32 = 0;
let sentDistances: u32 = 0;
let sentCodeLengths: u32 = 0;

function word(table: usize, index: u32): u32 {
  return load<u32>(table + ((<usize>index) << 2));
}
function add(table: usize, index: u32): void {
  const at = table + ((<usize>index) << 2);
  store<u32>(at, load<u32>(at) + 1);
}
function getBits(codes: usize, symbol: u32): u32 {
  return word(codes, symbol) >> 16;
}

/** How many tokens a block of so many bytes and matches can have. */
export function mostTokens(bytes: usize, matches: usize): usize {
  return matches + bytes / MAX_RUN_LENGTH + 2;
}

/** Starts the first block; its tokens are kept at this address. */
export function openBlocks(address: usize): void {
  if (!ready) fillLengthSymbols();
  ready = true;
  tokensAt = address;
  forget();
}

function forget(): void {
  tokens = 0;
  memory.fill(LITERALS, 0, 4 * 1024);
  memory.fill(COUNTS, 0, 288 * 4);
  memory.fill(DISTANCE_COUNTS, 0, 32 * 4);
}

function fillLengthSymbols(): void {
  let length: u32 = 3;
  for (let symbol = FIRST_LENGTH; symbol < 285; symbol++) {
    const extra: u32 = symbol < 265 ? 0 : (symbol - 261) >> 2;
    const first = length;
    for (; length < first + ((<u32>1) << extra); length++) {
      if (length < 258)
        store<u32>(LENGTH_SYMBOLS + ((<usize>length) << 2), symbol | (extra << 16) | (first << 20));
    }
  }
  store<u32>(LENGTH_SYMBOLS + (258 << 2), 285 | (258 << 20));
}

/** The symbol of a distance of 1 to 32768; from 4 on it has (symbol >> 1) - 1 extra bits. */
function distanceSymbol(distance: u32): u32 {
  const less = distance - 1;
  if (less < 4) return less;
  const top = 31 - clz(less);
  return (top << 1) + ((less >> (top - 1)) & 1);
}

/** Adds bytes that have no match. */
export function addLiterals(from: usize, to: usize): void {
  let at = from;
  for (; to - at > MAX_RUN_LENGTH; at += MAX_RUN_LENGTH) addRun(at, MAX_RUN_LENGTH, 0, 0);
  if (to > at) addRun(at, to - at, 0, 0);
}

/** Adds a match of `length` bytes with what is `distance` bytes before, and the literals `from` to `to` before it. */
export function addMatch(from: usize, to: usize, length: u32, distance: u32): void {
  let at = from;
  for (; to - at > MAX_RUN_LENGTH; at += MAX_RUN_LENGTH) addRun(at, MAX_RUN_LENGTH, 0, 0);
  add(COUNTS, word(LENGTH_SYMBOLS, length) & 0xffff);
  add(DISTANCE_COUNTS, distanceSymbol(distance));
  addRun(at, to - at, length, distance);
}

function addRun(from: usize, literals: usize, length: u32, distance: u32): void {
  store<u64>(tokensAt + (tokens++ << 3), <u64>literals | ((<u64>length) << 16) | ((<u64>distance) << 32));
  const to = from + literals;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const four = load<u32>(at);
    add(LITERALS, four & 255);
    add(LITERALS + 1024, (four >> 8) & 255);
    add(LITERALS + 2048, (four >> 16) & 255);
    add(LITERALS + 3072, four >> 24);
  }
  for (; at < to; at++) add(LITERALS, load<u8>(at));
}

/** Writes the tokens, which stand for the bytes `from` to `to`, as a block that is not final. */
export function endBlock(from: usize, to: usize): void {
  if (to > from) {
    for (let at: usize = 0; at < 1024; at += 16) {
      const two = i32x4.add(v128.load(LITERALS + at), v128.load(LITERALS + at + 1024));
      const four = i32x4.add(v128.load(LITERALS + at + 2048), v128.load(LITERALS + at + 3072));
      v128.store(COUNTS + at, i32x4.add(two, four));
    }
    add(COUNTS, END_OF_BLOCK);
    makeCodes(COUNTS, SYMBOLS, MAX_CODE_BITS, CODES);
    makeCodes(DISTANCE_COUNTS, DISTANCES, MAX_DISTANCE_CODE_BITS, DISTANCE_CODES);
    describeCodes();
    if (codedBits() < storedBits(to - from)) {
      writeDescription();
      writeTokens(from);
    } else {
      writeStored(from, to);
    }
  }
  forget();
}

/** Writes the empty stored block that ends a piece on a byte boundary; returns the address behind it. */
export function writeSyncFlush(): usize {
  put(0, 3);
  const at = align();
  store<u32>(at, 0xffff0000);
  return at + 4;
}

/** Makes the runs that tell the lengths of both codes (3.2.7), and their own code. */
function describeCodes(): void {
  sentSymbols = SYMBOLS;
  while (sentSymbols > FIRST_LENGTH && word(CODES, sentSymbols - 1) === 0) sentSymbols--;
  sentDistances = DISTANCES;
  while (sentDistances > 1 && word(DISTANCE_CODES, sentDistances - 1) === 0) sentDistances--;
  memory.fill(CODE_LENGTH_COUNTS, 0, 20 * 4);
  runs = 0;
  const all = sentSymbols + sentDistances;
  for (let at: u32 = 0; at < all; ) {
    const length = sentLength(at);
    let same: u32 = 1;
    while (at + same < all && sentLength(at + same) === length) same++;
    at += same;
    if (length !== 0) {
      addCodeLength(length, 0);
      same--;
      for (; same >= 3; same -= min<u32>(same, 6)) addCodeLength(16, min<u32>(same, 6) - 3);
    } else {
      for (; same >= 11; same -= min<u32>(same, 138)) addCodeLength(18, min<u32>(same, 138) - 11);
      for (; same >= 3; same -= min<u32>(same, 10)) addCodeLength(17, min<u32>(same, 10) - 3);
    }
    for (; same > 0; same--) addCodeLength(length, 0);
  }
  makeCodes(CODE_LENGTH_COUNTS, CODE_LENGTHS, MAX_CODE_LENGTH_BITS, CODE_LENGTH_CODES);
  sentCodeLengths = CODE_LENGTHS;
  while (sentCodeLengths > 4 && word(CODE_LENGTH_CODES, load<u8>(ORDER + sentCodeLengths - 1)) === 0) {
    sentCodeLengths--;
  }
}

function sentLength(at: u32): u32 {
  return at < sentSymbols ? getBits(CODES, at) : getBits(DISTANCE_CODES, at - sentSymbols);
}

function addCodeLength(symbol: u32, extra: u32): void {
  store<u32>(RUNS + ((<usize>runs) << 2), symbol | (extra << 8));
  runs++;
  add(CODE_LENGTH_COUNTS, symbol);
}

/** Extra bits of a symbol of code lengths. */
function extraBits(symbol: u32): u32 {
  return symbol === 16 ? 2 : symbol === 17 ? 3 : symbol === 18 ? 7 : 0;
}

/** The bits of the block with its own codes. */
function codedBits(): u64 {
  let bits: u64 = 3 + 5 + 5 + 4 + 3 * <u64>sentCodeLengths;
  for (let symbol: u32 = 0; symbol < CODE_LENGTHS; symbol++) {
    bits += <u64>word(CODE_LENGTH_COUNTS, symbol) * (getBits(CODE_LENGTH_CODES, symbol) + extraBits(symbol));
  }
  for (let symbol: u32 = 0; symbol < SYMBOLS; symbol++) {
    const extra: u32 = symbol < 265 || symbol === 285 ? 0 : (symbol - 261) >> 2;
    bits += <u64>word(COUNTS, symbol) * (getBits(CODES, symbol) + extra);
  }
  for (let symbol: u32 = 0; symbol < DISTANCES; symbol++) {
    const extra: u32 = symbol < 4 ? 0 : (symbol >> 1) - 1;
    bits += <u64>word(DISTANCE_COUNTS, symbol) * (getBits(DISTANCE_CODES, symbol) + extra);
  }
  return bits;
}

/** The bits of as many stored blocks as it takes: 3 and up to 7 of padding, and 4 bytes each. */
function storedBits(bytes: usize): u64 {
  const blocks = (bytes + MAX_STORED_LENGTH - 1) / MAX_STORED_LENGTH;
  return 8 * <u64>bytes + 40 * <u64>blocks + 2;
}

function writeStored(from: usize, to: usize): void {
  for (let at = from; at < to; ) {
    const length = min<usize>(to - at, MAX_STORED_LENGTH);
    put(0, 3);
    const out = align();
    store<u16>(out, <u16>length);
    store<u16>(out + 2, ~(<u16>length));
    memory.copy(out + 4, at, length);
    skip(4 + length);
    at += length;
  }
}

function writeDescription(): void {
  put(4, 3); // Not final, with codes of its own.
  put(sentSymbols - 257, 5);
  put(sentDistances - 1, 5);
  put(sentCodeLengths - 4, 4);
  flush();
  for (let nth: u32 = 0; nth < sentCodeLengths; nth++) {
    put(getBits(CODE_LENGTH_CODES, load<u8>(ORDER + nth)), 3);
    flush();
  }
  for (let nth: u32 = 0; nth < runs; nth++) {
    const run = word(RUNS, nth);
    const code = word(CODE_LENGTH_CODES, run & 255);
    put(code & 0xffff, code >> 16);
    put(run >> 8, extraBits(run & 255));
    flush();
  }
}

/** The hot loop: its bits are kept in locals, and up to four literals are written at a time. */
function writeTokens(from: usize): void {
  let at = from;
  let out = address();
  let bits = bitsWaiting();
  let count = bitsCount();
  for (let nth: usize = 0; nth < tokens; nth++) {
    const token = load<u64>(tokensAt + (nth << 3));
    let literals = <u32>token & 0xffff;
    for (; literals >= 4; literals -= 4) {
      const four = load<u32>(at);
      at += 4;
      let code = load<u32>(CODES + ((four & 255) << 2));
      bits |= (<u64>(code & 0xffff)) << count;
      count += code >> 16;
      code = load<u32>(CODES + ((four >> 6) & 0x3fc));
      bits |= (<u64>(code & 0xffff)) << count;
      count += code >> 16;
      code = load<u32>(CODES + ((four >> 14) & 0x3fc));
      bits |= (<u64>(code & 0xffff)) << count;
      count += code >> 16;
      code = load<u32>(CODES + ((four >> 22) & 0x3fc));
      bits |= (<u64>(code & 0xffff)) << count;
      count += code >> 16;
      store<u64>(out, bits);
      out += <usize>(count >> 3);
      bits >>= count & 0x38;
      count &= 7;
    }
    for (; literals > 0; literals--) {
      const code = load<u32>(CODES + ((<usize>load<u8>(at)) << 2));
      at++;
      bits |= (<u64>(code & 0xffff)) << count;
      count += code >> 16;
    }
    store<u64>(out, bits);
    out += <usize>(count >> 3);
    bits >>= count & 0x38;
    count &= 7;
    const length = <u32>(token >> 16) & 0xffff;
    if (length === 0) continue;
    at += length;
    const symbol = word(LENGTH_SYMBOLS, length);
    let code = word(CODES, symbol & 0xffff);
    bits |= (<u64>(code & 0xffff)) << count;
    count += code >> 16;
    bits |= (<u64>(length - (symbol >> 20))) << count;
    count += (symbol >> 16) & 15;
    const distance = <u32>(token >> 32);
    const distanceCode = distanceSymbol(distance);
    code = word(DISTANCE_CODES, distanceCode);
    bits |= (<u64>(code & 0xffff)) << count;
    count += code >> 16;
    if (distanceCode > 3) {
      const extra = (distanceCode >> 1) - 1;
      bits |= (<u64>((distance - 1) & (((<u32>1) << extra) - 1))) << count;
      count += extra;
    }
    store<u64>(out, bits);
    out += <usize>(count >> 3);
    bits >>= count & 0x38;
    count &= 7;
  }
  resume(out, bits, count);
  const code = word(CODES, END_OF_BLOCK);
  put(code & 0xffff, code >> 16);
  flush();
}
