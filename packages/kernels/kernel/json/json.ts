/*
 * The inner loop of the JSON scanner (src/json-scanner.ts).
 *
 * For each 64 bytes it makes masks with a bit per byte: quotes that are not escaped, from them the bytes within strings,
 * and outside of those brackets, commas, colons, space, and the rest, which numbers and words are made of. What begins a
 * token then takes a step through a table of what may follow what.
 */
import { MAX_DEPTH, PIECE_BYTES } from '../../src/layout';
import {
  backslashes,
  bits,
  bracketLike,
  colons,
  controls,
  fillStrings,
  quotes,
  separators,
  spaces,
} from '../shared/masks';
import { checkEscapes, hexLeft, setHexLeft } from './escapes';
import { isWhole, stepScalar } from './scalars';
import {
  BEHIND_ITEM,
  BEHIND_MEMBER,
  CLOSE,
  COLON,
  FIRST_ITEM,
  FIRST_KEY,
  ITEM,
  KEY,
  OPEN,
  REFUSED,
  STEPS,
  TOKENS,
  VALUE,
} from './steps';

/** What each open value is in, by its depth from 1 on: the state behind it. */
export const STACK = memory.data(MAX_DEPTH + 16, 16);
/** Where a piece goes, and 64 spaces behind it. */
export const PIECE = memory.data(PIECE_BYTES + 64, 16);

/**
 * The state of a value between its pieces (i32 each): values that are open, all bits or none within a string, whether the
 * next byte is escaped, digits that an escape lacks, what may come next, how far a number or word is, and whether it may
 * go on.
 */
export const STATE = memory.data(28, 16);

/**
 * Scans the piece, of `length` bytes and then 64 spaces, in the state that the last one left at STATE. Returns the offset
 * behind the value, `length` if it goes on, and -1 if it is not JSON.
 */
export function scan(length: u32): i32 {
  let open = load<u32>(STATE);
  let string: u64 = <u64>(<i64>load<i32>(STATE, 4));
  let isEscaped = load<u32>(STATE, 8);
  setHexLeft(load<u32>(STATE, 12));
  let state = load<u32>(STATE, 16);
  let scalar = load<u32>(STATE, 20);
  let goesOn: u64 = load<u32>(STATE, 24);
  for (let at: u32 = 0; at < length; at += 64) {
    const a = v128.load(PIECE + at);
    const b = v128.load(PIECE + at, 16);
    const c = v128.load(PIECE + at, 32);
    const d = v128.load(PIECE + at, 48);
    let quoteBits = bits(quotes(a), quotes(b), quotes(c), quotes(d));
    let slashBits: u64 = 0;
    let controlBits: u64 = 0;
    const isRare = v128.any_true(v128.or(v128.or(rare(a), rare(b)), v128.or(rare(c), rare(d))));
    if (isRare || isEscaped !== 0 || hexLeft !== 0) {
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
      if (isEscaped !== 0 && length - at < 64) escapes &= ~((<u64>1) << (length - at));
      if (!checkEscapes(PIECE + at, PIECE + length, escapes)) return -1;
    }
    // All of it is within a string.
    if ((quoteBits | controlBits) === 0 && string !== 0) continue;
    const wasWithin = string !== 0;
    const within = fillStrings(quoteBits) ^ string;
    string = <u64>(<i64>within >> 63);
    const outside = ~(within | quoteBits);
    // A control character within a string, a backslash outside of one, and space that is none.
    if (controlBits !== 0 && hasControl(controlBits, within, at)) return -1;
    if ((slashBits & ~within) !== 0) return -1;
    const between = bits(separators(a), separators(b), separators(c), separators(d)) & outside;
    if (between === outside && scalar === 0) {
      const colonBits = bits(colons(a), colons(b), colons(c), colons(d)) & outside;
      const next = skipStrings(state, wasWithin, quoteBits & within, quoteBits & ~within, between, colonBits);
      if (next !== REFUSED) {
        state = next;
        goesOn = 0;
        continue;
      }
    }
    const marks = between | (bits(bracketLike(a), bracketLike(b), bracketLike(c), bracketLike(d)) & outside);
    let rest = outside & ~marks;
    if (rest !== 0) rest &= ~bits(spaces(a), spaces(b), spaces(c), spaces(d));
    if ((rest & goesOn) !== 0) {
      scalar = stepScalar(scalar, PIECE + at, rest);
      if (scalar === 0) return -1;
    }
    const starts = rest & ~((rest << 1) | goesOn);
    goesOn = rest === 0 ? 0 : (rest >> (<u64>min(64, length - at) - 1)) & 1;
    for (let found = marks | starts | (quoteBits & within); found !== 0; found &= found - 1) {
      const offset = ctz(found);
      const index = at + <u32>offset;
      if (scalar !== 0) {
        if (!isWhole(scalar)) return -1;
        scalar = 0;
      }
      const token = <u32>load<u8>(TOKENS + <u32>load<u8>(PIECE + index));
      const next = <u32>load<u8>(STEPS + ((state << 4) | token));
      if (next < OPEN) {
        state = next;
        if (token === VALUE) {
          scalar = stepScalar(0, PIECE + index, rest >> offset);
          if (scalar === 0) return -1;
        }
      } else if (next === CLOSE) {
        state = <u32>load<u8>(STACK + open);
        if (--open === 0) {
          store<u32>(STATE, 0);
          return <i32>index + 1;
        }
      } else if (next === REFUSED || ++open > <u32>MAX_DEPTH) return -1;
      else {
        store<u8>(STACK + open, <u8>(next & 15));
        state = (next & 0x20) !== 0 ? FIRST_KEY : FIRST_ITEM;
      }
    }
  }
  store<u32>(STATE, open);
  store<i32>(STATE, <i32>string, 4);
  store<u32>(STATE, isEscaped, 8);
  store<u32>(STATE, hexLeft, 12);
  store<u32>(STATE, state, 16);
  store<u32>(STATE, scalar, 20);
  store<u32>(STATE, <u32>goesOn, 24);
  return <i32>length;
}

/**
 * The state behind 64 bytes that have nothing but strings, commas and colons, one right behind the other; REFUSED if they
 * have to be looked at one by one. In an object a name, `:`, a value and `,` take turns, in a list an item and `,`.
 */
function skipStrings(
  state: u32,
  wasWithin: bool,
  opening: u64,
  closing: u64,
  between: u64,
  colonBits: u64,
): u32 {
  const isObject = state >= KEY && state <= BEHIND_MEMBER;
  if (!isObject && state < ITEM) return REFUSED;
  const isBehind = state === COLON || state === BEHIND_MEMBER || state === BEHIND_ITEM;
  // What stood last before these bytes.
  const afterString: u64 = !wasWithin && isBehind ? 1 : 0;
  const afterSeparator: u64 = !wasWithin && !isBehind ? 1 : 0;
  if ((between & ~((closing << 1) | afterString)) !== 0) return REFUSED;
  if ((opening & ~((between << 1) | afterSeparator)) !== 0) return REFUSED;
  const tokens = <u32>popcnt(opening | between);
  if (!isObject)
    return colonBits !== 0 || state > BEHIND_ITEM ? REFUSED : ITEM + ((state - ITEM + tokens) & 1);
  const odd = between & fillStrings(between);
  const expected = state <= COLON ? odd : between & ~odd;
  return colonBits === expected ? KEY + ((state - KEY + tokens) & 3) : REFUSED;
}

/** Backslashes and control characters. */
function rare(bytes: v128): v128 {
  return v128.or(backslashes(bytes), controls(bytes));
}

/** Whether one of the control characters is within a string, or no space outside of one. */
function hasControl(controlBits: u64, within: u64, at: u32): bool {
  if ((controlBits & within) !== 0) return true;
  for (let left = controlBits; left !== 0; left &= left - 1) {
    const byte = load<u8>(PIECE + at + <u32>ctz(left));
    if (byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return true;
  }
  return false;
}
