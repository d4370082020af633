/*
 * Values in the bytes of an answer, as nodes write them: compact, printable ASCII. Functions that read a value at `p` return
 * the address behind it, or 0 if it is not of that form. Nothing reads further than 16 bytes behind the first byte that ends a
 * value, and zeros behind each answer end all of them.
 */

const QUOTE: u32 = 0x22;
export const COMMA: u32 = 0x2c;
export const OPEN_LIST: u32 = 0x5b;
export const CLOSE_LIST: u32 = 0x5d;
export const OPEN_OBJECT: u32 = 0x7b;
export const CLOSE_OBJECT: u32 = 0x7d;
/** `"0x`, as three bytes of a little-endian word. */
const HEX_HEAD: u32 = 0x783022;
const NULL: u32 = 0x6c6c756e;
const TRUE: u32 = 0x65757274;
const ALSE: u32 = 0x65736c61;
/** Most digits of an integer: below 2^53. */
const MAX_DIGITS: usize = 15;

/** Address of the first byte that is no lower-case hex digit. */
function hexEnd(p: usize): usize {
  while (true) {
    const bytes = v128.load(p);
    const isDigit = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
    const isLetter = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x61)), i8x16.splat(6));
    const others = i8x16.bitmask(v128.or(isDigit, isLetter)) ^ 0xffff;
    if (others !== 0) return p + ctz(others);
    p += 16;
  }
}

/** Address of the closing quote of lower-case hex digits behind `"0x`; 0 if it is anything else. */
function hexString(p: usize): usize {
  if ((load<u32>(p) & 0xffffff) !== HEX_HEAD) return 0;
  const end = hexEnd(p + 3);
  return <u32>load<u8>(end) === QUOTE ? end : 0;
}

/** DATA of exactly so many digits. */
export function fixedHex(p: usize, digits: usize): usize {
  const end = hexString(p);
  return end !== 0 && end - p === digits + 3 ? end + 1 : 0;
}

/** DATA of any length. */
export function data(p: usize): usize {
  const end = hexString(p);
  return end !== 0 && ((end - p - 3) & 1) === 0 ? end + 1 : 0;
}

/** Canonical QUANTITY: no leading zero, at most 256 bits. */
export function quantity(p: usize): usize {
  const end = hexString(p);
  if (end === 0) return 0;
  const digits = end - p - 3;
  if (digits === 0 || digits > 64 || (digits > 1 && load<u8>(p, 3) === 0x30)) return 0;
  return end + 1;
}

/** 1 to 64 digits, with leading zeros or without. */
export function word(p: usize): usize {
  const end = hexString(p);
  return end !== 0 && end - p > 3 && end - p <= 67 ? end + 1 : 0;
}

/** A JSON integer below 10^15, without sign, fraction or exponent. */
export function integer(p: usize): usize {
  const start = p;
  while (<u32>load<u8>(p) - 0x30 < 10) p++;
  const digits = p - start;
  if (digits === 0 || digits > MAX_DIGITS || (digits > 1 && load<u8>(start) === 0x30)) return 0;
  return p;
}

/** true or false. */
export function boolean(p: usize): usize {
  if (load<u32>(p) === TRUE) return p + 4;
  return load<u32>(p, 1) === ALSE && load<u8>(p) === 0x66 ? p + 5 : 0;
}

/** null. */
export function nothing(p: usize): usize {
  return load<u32>(p) === NULL ? p + 4 : 0;
}

/** A string of printable ASCII without escapes; one that begins with `0x` must be lower-case hex. */
export function plain(p: usize): usize {
  if (<u32>load<u8>(p) !== QUOTE) return 0;
  if ((load<u32>(p) & 0xffffff) === HEX_HEAD) {
    const end = hexString(p);
    return end === 0 ? 0 : end + 1;
  }
  p++;
  while (true) {
    const byte = <u32>load<u8>(p++);
    if (byte === QUOTE) return p;
    if (byte < 0x20 || byte > 0x7e || byte === 0x5c) return 0;
  }
}

/** A list of DATA of 32 bytes, at most so many. */
export function hashes(p: usize, most: u32): usize {
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  if (<u32>load<u8>(p) === CLOSE_LIST) return p + 1;
  while (most-- > 0) {
    p = fixedHex(p, 64);
    if (p === 0) return 0;
    const byte = <u32>load<u8>(p++);
    if (byte === CLOSE_LIST) return p;
    if (byte !== COMMA) return 0;
  }
  return 0;
}

/** A list of integers. */
export function integers(p: usize): usize {
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  if (<u32>load<u8>(p) === CLOSE_LIST) return p + 1;
  while (true) {
    p = integer(p);
    if (p === 0) return 0;
    const byte = <u32>load<u8>(p++);
    if (byte === CLOSE_LIST) return p;
    if (byte !== COMMA) return 0;
  }
}

/**
 * A list whose elements are read later, by whoever knows them: up to the bracket that closes it, if no string has escapes. If
 * one has, or anything is no JSON, the later reading ends elsewhere.
 */
export function objects(p: usize): usize {
  if (<u32>load<u8>(p) !== OPEN_LIST) return 0;
  let depth: u32 = 0;
  while (true) {
    const bytes = v128.load(p);
    const isQuote = i8x16.eq(bytes, i8x16.splat(0x22));
    // `[` and `]`, and zeros behind the answer.
    const isBracket = v128.or(i8x16.eq(bytes, i8x16.splat(0x5b)), i8x16.eq(bytes, i8x16.splat(0x5d)));
    const marks = i8x16.bitmask(v128.or(v128.or(isQuote, isBracket), i8x16.eq(bytes, i8x16.splat(0))));
    if (marks === 0) {
      p += 16;
      continue;
    }
    p += ctz(marks);
    const byte = <u32>load<u8>(p++);
    if (byte === 0) return 0;
    if (byte === QUOTE) {
      p = stringEnd(p);
      if (p === 0) return 0;
    } else if (byte === OPEN_LIST) depth++;
    else if (--depth === 0) return p;
  }
}

/** Address behind the next quote; 0 if zeros come before. */
function stringEnd(p: usize): usize {
  while (true) {
    const bytes = v128.load(p);
    const isQuote = i8x16.eq(bytes, i8x16.splat(0x22));
    const marks = i8x16.bitmask(v128.or(isQuote, i8x16.eq(bytes, i8x16.splat(0))));
    if (marks !== 0) {
      p += ctz(marks);
      return <u32>load<u8>(p) === QUOTE ? p + 1 : 0;
    }
    p += 16;
  }
}

/** Whether these bytes are the same. */
export function same(a: usize, b: usize, length: usize): bool {
  let i: usize = 0;
  for (; i + 16 <= length; i += 16) {
    if (v128.any_true(v128.xor(v128.load(a + i), v128.load(b + i)))) return false;
  }
  for (; i < length; i++) if (load<u8>(a + i) !== load<u8>(b + i)) return false;
  return true;
}

/** Copies bytes; up to 15 behind `to + length` are overwritten too. The two do not overlap. */
export function copy(to: usize, from: usize, length: usize): void {
  if (length > 512) memory.copy(to, from, length);
  else for (let i: usize = 0; i < length; i += 16) v128.store(to + i, v128.load(from + i));
}

/** What stands for "larger than is known here". */
export const LARGE: u64 = u64.MAX_VALUE;

/** The number in so many hex digits; LARGE from 2^60 on. */
export function hexNumber(at: usize, digits: usize): u64 {
  if (digits > 15) return LARGE;
  let value: u64 = 0;
  for (let i: usize = 0; i < digits; i++) {
    const code = <u64>load<u8>(at + i);
    value = (value << 4) | ((code & 15) + 9 * (code >> 6));
  }
  return value;
}

/** The number in decimal digits from `at` to `end`. */
export function decimalNumber(at: usize, end: usize): u64 {
  let value: u64 = 0;
  for (; at < end; at++) value = value * 10 + load<u8>(at) - 0x30;
  return value;
}

/** Writes a number as QUANTITY with its quotes; returns its length, at most 20. */
export function writeQuantity(value: u64, to: usize): usize {
  let digits: usize = 1;
  while (digits < 16 && value >> ((<u64>digits) << 2) !== 0) digits++;
  store<u32>(to, HEX_HEAD);
  for (let i: usize = 0; i < digits; i++) {
    const nibble = <u32>(value >> ((<u64>(digits - 1 - i)) << 2)) & 15;
    store<u8>(to + 3 + i, nibble + (nibble < 10 ? 0x30 : 0x57));
  }
  store<u8>(to + 3 + digits, QUOTE);
  return digits + 4;
}
