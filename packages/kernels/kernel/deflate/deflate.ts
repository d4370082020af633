/*
 * Raw DEFLATE for hex in JSON, in AssemblyScript; for any other bytes it is valid, and no larger than a few bytes in a
 * thousand more than they are.
 *
 * In such text five equal hex digits cost fewer bits than a match, and values repeat whole: so it looks for matches of 8
 * bytes and more only, at each quote and at every second byte behind one. Counted from a quote, two places of a value
 * have the same parity. A match is extended backwards, too.
 */
import { open } from './bits.js';
import { addLiterals, addMatch, endBlock, mostTokens, openBlocks, writeSyncFlush } from './block.js';
import { findItems } from './items.js';

/**
 * Where 8 bytes of a hash stood last: their place in the text, counted from 1, and in the lowest 8 bits a tag, further bits
 * of the hash, which saves looking at nearly all places where others stand; 0 for nowhere. 32 KB, so that it stays in the
 * nearest cache.
 */
const TABLE_BITS: u64 = 13;
const TABLE_BYTES: usize = 32_768;
const TABLE = memory.data(32_768, 16);
const TAG_BITS: u32 = 8;
const TAG: u32 = 255;
/** A place has the other 24 bits. */
const MAX_TEXT_LENGTH: usize = 16_777_214;

/** How far back a match may be. */
const WINDOW: usize = 32_768;
const MAX_MATCH_LENGTH: usize = 258;
/** Bytes between two looks within a value. */
const STEP: usize = 2;
/** A block ends with this match: by then its codes cost little, and what follows may want others. */
const BLOCK_MATCHES: usize = 12_000;
/** A look reads 8 bytes, and comparing and finding quotes 16 at a time, beyond what they look at. */
const READ_BEHIND: usize = 64;
const QUOTE: i8 = 0x22;
const PAGE: usize = 65_536;

let outputAt: usize = 0;
let textAt: usize = 0;
let textLength: usize = 0;

/**
 * Makes room for a text of `length` bytes, 16 MB at most, and returns the address to write it to. Memory is, in this order: tables, tokens
 * of a block, the text, what is read behind it, and the output.
 *
 * The output has `length` + `length` / 4096 + 64 bytes, which suffice: a block is never longer than stored, which is at
 * most 5 bytes for each 65535 or part of them; each block but the last has 12000 matches of 8 bytes or more. That is
 * `length` / 13107 + `length` / 19200 + 10, less than `length` / 4096 + 10; the sync flush takes 5, and writing a last word
 * of bits 8.
 */
export function reserve(length: usize): usize {
  if (length > MAX_TEXT_LENGTH) unreachable();
  textLength = length;
  textAt = tokensAt() + (mostTokens(length, BLOCK_MATCHES) << 3);
  outputAt = textAt + length + READ_BEHIND;
  const end = outputEnd();
  const pages = (end + PAGE - 1) / PAGE;
  const missing = <i32>pages - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
  return textAt;
}

/** The address of the output of `deflate`. */
export function output(): usize {
  return outputAt;
}

function outputEnd(): usize {
  return outputAt + textLength + textLength / 4_096 + 64;
}

/** The address of what `items` found. */
export function itemsAt(): usize {
  return outputEnd();
}

/** Finds the items of the text that is where `reserve` said (see findItems): how many there are; -1: declined. */
export function items(kind: u32, seed: u32): i32 {
  return findItems(kind, seed, textAt, textAt + textLength, outputEnd());
}

/** Deflates the text that is where `reserve` said; returns the length of the output, which ends in a sync flush. */
export function deflate(): usize {
  memory.fill(TABLE, 0, TABLE_BYTES);
  open(outputAt);
  openBlocks(tokensAt());
  const start = textAt;
  const end = start + textLength;
  // Nearer to the end nothing is looked for: 8 bytes could not be compared there.
  const last = textLength > 16 ? end - 16 : start;
  let at = start;
  let quote = start;
  let literals = start;
  let block = start;
  let matches: usize = 0;
  while (at < last) {
    if (quote <= at) quote = min<usize>(nextQuote(at + 1, last), last);
    let distance: usize = 0;
    for (; at < quote; at += STEP) {
      const eight = load<u64>(at);
      const hash = getHash(eight);
      const before = load<u32>(getEntry(hash));
      const here = entryAt(at, hash);
      store<u32>(getEntry(hash), here);
      // Equal tags cancel out.
      const differ = here - before;
      if ((differ & TAG) !== 0 || before === 0) continue;
      const apart = <usize>(differ >> TAG_BITS);
      if (apart <= WINDOW && load<u64>(at - apart) === eight) {
        distance = apart;
        break;
      }
    }
    if (distance === 0) {
      at = quote;
      continue;
    }
    const found = at;
    let length = sameBytes(found, found - distance, min<usize>(MAX_MATCH_LENGTH, end - found));
    while (
      at > literals &&
      at - distance > start &&
      length < MAX_MATCH_LENGTH &&
      load<u8>(at - 1) === load<u8>(at - 1 - distance)
    ) {
      at--;
      length++;
    }
    addMatch(literals, at, <u32>length, <u32>distance);
    literals = at + length;
    if (++matches === BLOCK_MATCHES) {
      endBlock(block, literals);
      block = literals;
      matches = 0;
    }
    at = nextLook(found, literals, quote);
  }
  addLiterals(literals, end);
  endBlock(block, end);
  return writeSyncFlush() - outputAt;
}

function tokensAt(): usize {
  return (__heap_base + 15) & ~15;
}

/** The number of an entry, and the tag in its lowest bits. */
function getHash(eight: u64): u32 {
  // biome-ignore lint/correctness/noPrecisionLoss: here it is an integer of 64 bits.
  return <u32>((eight * 0x9e3779b97f4a7c15) >> (64 - TABLE_BITS - TAG_BITS));
}

function getEntry(hash: u32): usize {
  return TABLE + ((<usize>(hash >> TAG_BITS)) << 2);
}

function entryAt(at: usize, hash: u32): u32 {
  return ((<u32>(at - textAt + 1)) << TAG_BITS) | (hash & TAG);
}

/** The address of the first quote from `from` on; `to` or beyond if there is none before. */
function nextQuote(from: usize, to: usize): usize {
  const quotes = i8x16.splat(QUOTE);
  for (let at = from; at < to; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), quotes));
    if (found !== 0) return at + ctz(found);
  }
  return to;
}

/** How many bytes are equal, of which the first 8 are known to be; at most `most`. */
function sameBytes(a: usize, b: usize, most: usize): usize {
  for (let same: usize = 8; same < most; same += 16) {
    const differ = i8x16.bitmask(i8x16.eq(v128.load(a + same), v128.load(b + same))) ^ 0xffff;
    if (differ !== 0) return min<usize>(same + ctz(differ), most);
  }
  return most;
}

/**
 * Where to look next behind a match that was found at `found` and ends at `end`: as many steps from its last quote, or from
 * where it was found if it has none. `quote` is the first one behind `found`. The places between are noted.
 */
function nextLook(found: usize, end: usize, quote: usize): usize {
  let from = found;
  if (end > quote) {
    const quotes = i8x16.splat(QUOTE);
    for (let at = end; at > found; at -= 16) {
      const mask = i8x16.bitmask(i8x16.eq(v128.load(at - 16), quotes));
      if (mask === 0) continue;
      const last = at + 15 - clz(mask);
      if (last > found) {
        from = last;
        note(last);
      }
      break;
    }
  }
  let at = from + STEP;
  for (; at < end; at += STEP) note(at);
  return at;
}

function note(at: usize): void {
  const hash = getHash(load<u64>(at));
  store<u32>(getEntry(hash), entryAt(at, hash));
}
