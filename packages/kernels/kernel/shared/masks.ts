/*
 * Masks of JSON text: 64 bytes are compared at a time, and each has a bit.
 */

export function quotes(bytes: v128): v128 {
  return i8x16.eq(bytes, i8x16.splat(0x22));
}

export function backslashes(bytes: v128): v128 {
  return i8x16.eq(bytes, i8x16.splat(0x5c));
}

export function controls(bytes: v128): v128 {
  return i8x16.lt_u(bytes, i8x16.splat(0x20));
}

/** Brackets, and some letters and signs that JSON has within strings alone. */
export function bracketLike(bytes: v128): v128 {
  return i8x16.eq(v128.and(bytes, i8x16.splat(<i8>0xd9)), i8x16.splat(0x59));
}

export function colons(bytes: v128): v128 {
  return i8x16.eq(bytes, i8x16.splat(0x3a));
}

/** Commas and colons. */
export function separators(bytes: v128): v128 {
  return v128.or(i8x16.eq(bytes, i8x16.splat(0x2c)), colons(bytes));
}

/** Space, and control characters. */
export function spaces(bytes: v128): v128 {
  return i8x16.lt_u(bytes, i8x16.splat(0x21));
}

export function hasBackslash(a: v128, b: v128, c: v128, d: v128): bool {
  const low = v128.or(backslashes(a), backslashes(b));
  const high = v128.or(backslashes(c), backslashes(d));
  return v128.any_true(v128.or(low, high));
}

/** The highest bit of each of 64 bytes. */
export function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = <u32>i8x16.bitmask(a) | ((<u32>i8x16.bitmask(b)) << 16);
  const high = <u32>i8x16.bitmask(c) | ((<u32>i8x16.bitmask(d)) << 16);
  return <u64>low | ((<u64>high) << 32);
}

/** All bits from each quote to before the next one: each quote flips what follows it. */
export function fillStrings(quoteBits: u64): u64 {
  let within = quoteBits;
  within ^= within << 1;
  within ^= within << 2;
  within ^= within << 4;
  within ^= within << 8;
  within ^= within << 16;
  within ^= within << 32;
  return within;
}
