/*
 * The inner loop of the bracket scanner (src/bracket-scanner.ts).
 *
 * For each 64 bytes it makes masks with a bit per byte: quotes that are not escaped, and from them the bytes within
 * strings. What remains is to compare the brackets outside of strings with a stack.
 */
import { MAX_DEPTH, PIECE_BYTES } from '../../src/layout.js';
import { backslashes, bits, bracketLike, controls, fillStrings, quotes } from '../shared/masks.js';

/** The open brackets, by their depth from 1 on. */
export const STACK = memory.data(MAX_DEPTH + 16, 16);
/** Where a piece goes, and 64 spaces behind it. */
export const PIECE = memory.data(PIECE_BYTES + 64, 16);

/** The state of a value behind its piece (i32 each): brackets that are open, all bits or none, and 0 or 1. */
export const STATE = memory.data(12, 16);

/**
 * Scans the piece, of `length` bytes and then 64 spaces, in the state that the last one left at STATE. Returns the offset behind the last bracket, `length` if that is not
 * there, and -1 if no JSON has these bytes.
 */
export function scan(length: u32, depth: u32, inString: i32, escaped: u32): i32 {
  let open = depth;
  let string: u64 = <u64>(<i64>inString);
  let isEscaped = escaped;
  for (let at: u32 = 0; at < length; at += 64) {
    const a = v128.load(PIECE + at);
    const b = v128.load(PIECE + at, 16);
    const c = v128.load(PIECE + at, 32);
    const d = v128.load(PIECE + at, 48);
    let quoteBits = bits(quotes(a), quotes(b), quotes(c), quotes(d));
    let slashBits: u64 = 0;
    let controlBits: u64 = 0;
    const isRare = v128.any_true(v128.or(v128.or(rare(a), rare(b)), v128.or(rare(c), rare(d))));
    if (isRare || isEscaped !== 0) {
      slashBits = bits(backslashes(a), backslashes(b), backslashes(c), backslashes(d));
      controlBits = bits(controls(a), controls(b), controls(c), controls(d));
      let escapes: u64 = isEscaped;
      isEscaped = 0;
      // What each backslash escapes, the first byte of the next block or piece included.
      for (let left = slashBits & ~escapes; left !== 0; ) {
        const bit = left & (0 - left);
        escapes |= bit << 1;
        const behind = <u32>ctz(bit) + 1;
        if (behind === 64 || at + behind === length) isEscaped = 1;
        left &= ~(bit | (bit << 1));
      }
      quoteBits &= ~escapes;
    }
    const within = fillStrings(quoteBits) ^ string;
    string = <u64>(<i64>within >> 63);
    // A control character within a string, a backslash outside of one.
    if (((controlBits & within) | (slashBits & ~within)) !== 0) return -1;
    for (
      let found = bits(bracketLike(a), bracketLike(b), bracketLike(c), bracketLike(d)) & ~within;
      found !== 0;
    ) {
      const index = at + <u32>ctz(found);
      const byte = <u32>load<u8>(PIECE + index);
      if ((byte | 0x20) === 0x7b) {
        if (++open > <u32>MAX_DEPTH) return -1;
        store<u8>(STACK + open, <u8>byte);
      } else {
        // `{` and `}`, `[` and `]` are two apart; a letter is apart from both.
        if (<u32>load<u8>(STACK + open) !== byte - 2) return -1;
        if (--open === 0) return keep(open, string, isEscaped, index + 1);
      }
      found &= found - 1;
    }
  }
  return keep(open, string, isEscaped, length);
}

/** Backslashes and control characters. */
function rare(bytes: v128): v128 {
  return v128.or(backslashes(bytes), controls(bytes));
}

function keep(open: u32, string: u64, isEscaped: u32, end: u32): i32 {
  store<u32>(STATE, open);
  store<i32>(STATE, <i32>string, 4);
  store<u32>(STATE, isEscaped, 8);
  return <i32>end;
}
