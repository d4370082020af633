/*
 * Bytes of a text, 16 at a time. Zeros follow the text: up to 15 bytes of them are read.
 */
import { backslashes, controls, quotes } from '../shared/masks';

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
