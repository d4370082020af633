/*
 * Bytes of a text, 16 at a time. Zeros follow the text: up to 15 bytes of them are read.
 */
import {
  backslashes,
  bits,
  bracketLike,
  controls,
  fillStrings,
  hasBackslash,
  quotes,
} from '../shared/masks.js';

/** The golden ratio in 64 bits: differences of any byte spread to all that follow. */
const SPREAD: u64 = ((<u64>0x9e3779b9) << 32) | 0x7f4a7c15;

/** Whether as many bytes are the same at both addresses. */
export function isSame(one: usize, other: usize, length: u32): bool {
  let at: usize = 0;
  for (const last = <usize>length & ~15; at < last; at += 16) {
    if (v128.any_true(v128.xor(v128.load(one + at), v128.load(other + at)))) return false;
  }
  const rest = length - <u32>at;
  if (rest === 0) return true;
  const different = ~i8x16.bitmask(i8x16.eq(v128.load(one + at), v128.load(other + at)));
  return (different & ((1 << rest) - 1)) === 0;
}

/** Address of the next quote from `start` on; 0 if there is none before `end`, or anything but plain ASCII before it. */
export function findQuote(start: usize, end: usize): usize {
  for (let at = start; at < end; at += 16) {
    const bytes = v128.load(at);
    // The highest bit of what is not ASCII is set in itself.
    const found = i8x16.bitmask(
      v128.or(v128.or(quotes(bytes), backslashes(bytes)), v128.or(controls(bytes), bytes)),
    );
    if (found === 0) continue;
    const first = at + <usize>ctz(found);
    return first < end && load<u8>(first) === 0x22 ? first : 0;
  }
  return 0;
}

/** A hash of bytes. */
export function hashOf(start: usize, length: u32): u32 {
  let hash: u64 = length;
  const end = start + length;
  let at = start;
  for (; at + 8 <= end; at += 8) hash = (rotl<u64>(hash, 23) ^ load<u64>(at)) * SPREAD;
  if (at < end) {
    const rest = load<u64>(at) & (((<u64>1) << ((end - at) << 3)) - 1);
    hash = (rotl<u64>(hash, 23) ^ rest) * SPREAD;
  }
  return <u32>(hash >> 32) ^ <u32>(hash >> 15);
}

/** How many objects the list had that was skipped last, each directly in it; and whether behind one there was another value. */
export let objects: u32 = 0;
export let isMixed: bool = false;

/**
 * Address behind the list or object that begins at `start`; 0 if it does not end before `end`, or has an escape. What is in
 * it is not checked.
 */
export function skipNested(start: usize, end: usize): usize {
  let depth: i32 = 0;
  let string: u64 = 0;
  objects = 0;
  isMixed = false;
  for (let at = start; at < end; at += 64) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const within = fillStrings(bits(quotes(a), quotes(b), quotes(c), quotes(d))) ^ string;
    string = <u64>(<i64>within >> 63);
    // Checked up to the end of these 64 bytes: one that is behind the value is declined too, which is rare.
    if (hasBackslash(a, b, c, d)) return 0;
    for (
      let found = bits(bracketLike(a), bracketLike(b), bracketLike(c), bracketLike(d)) & ~within;
      found !== 0;
      found &= found - 1
    ) {
      const place = at + <usize>ctz(found);
      // The second bit tells `[` and `{` from `]` and `}`.
      if ((load<u8>(place) & 2) !== 0) {
        depth += 1;
        if (depth === 2 && load<u8>(place) === 0x7b) objects += 1;
      } else if (--depth === 0) return place + 1 <= end ? place + 1 : 0;
      else if (depth === 1) {
        const behind = <u32>load<u16>(place, 1);
        isMixed = isMixed || ((behind & 0xff) !== 0x5d && behind !== 0x7b2c);
      }
    }
  }
  return 0;
}

/** Address behind the number that begins at `start`; `start` if there is none. */
export function endOfNumber(start: usize): usize {
  let at = start;
  while (isOfNumber(load<u8>(at))) at += 1;
  return at;
}

/** Digits, and `+ - .` and `E e`. */
function isOfNumber(byte: u32): bool {
  return byte - 0x30 < 10 || byte === 0x2b || byte === 0x2d || byte === 0x2e || (byte | 0x20) === 0x65;
}
