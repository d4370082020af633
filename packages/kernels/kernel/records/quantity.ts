/*
 * Quantities (`"0x…"`) of at most 256 bits, and small numbers.
 */

/** The number that was read last, 256 bits, the lowest first. */
export const WORD = memory.data(32, 16);

/** Digits of hex that JavaScript reads as an exact number. */
const EXACT_DIGITS: usize = 13;
/** Below it JavaScript has every whole number. */
const EXACT: u64 = (<u64>1) << 52;
const BILLION: u64 = 1_000_000_000;

/** Whether there are a quote and the beginning of a quantity, with digits. */
export function isQuantity(start: usize, end: usize): bool {
  return load<u8>(start) === 0x22 && end - start >= 5 && load<u16>(start, 1) === 0x7830;
}

/** Reads lower-case digits of hex. Returns false if there is another character, or more than 256 bits. */
export function readQuantity(start: usize, end: usize): bool {
  let first = start;
  while (first < end && load<u8>(first) === 0x30) first += 1;
  if (end - first > 64) return false;
  v128.store(WORD, i64x2.splat(0));
  v128.store(WORD, i64x2.splat(0), 16);
  let shift: u32 = 0;
  let limb: u64 = 0;
  let at: usize = WORD;
  for (let place = end; place > start; place--) {
    const byte = <u32>load<u8>(place - 1);
    let digit = byte - 0x30;
    if (digit > 9) {
      digit = byte - 0x57;
      if (digit < 10 || digit > 15) return false;
    }
    if (place <= first) continue;
    limb |= (<u64>digit) << shift;
    shift += 4;
    if (shift === 64) {
      store<u64>(at, limb);
      at += 8;
      limb = 0;
      shift = 0;
    }
  }
  if (shift > 0) store<u64>(at, limb);
  return true;
}

/**
 * Reads a quantity of at most 64 bits, or digits of a small number. Returns false for others, and for quantities that
 * JavaScript has as a bigint though they are small.
 */
export function readNumber(start: usize, end: usize): bool {
  if (isQuantity(start, end)) {
    const digits = end - start - 4;
    if (digits > 16 || (digits > EXACT_DIGITS && load<u8>(start, 3) === 0x30)) return false;
    return readQuantity(start + 3, end - 1);
  }
  const length = end - start;
  if (length === 0 || length > 15 || (length > 1 && load<u8>(start) === 0x30)) return false;
  let number: u64 = 0;
  for (let at = start; at < end; at++) {
    const digit = <u32>load<u8>(at) - 0x30;
    if (digit > 9) return false;
    number = number * 10 + digit;
  }
  store<u64>(WORD, number);
  return number < EXACT;
}

/** The number that was read last, rounded to the nearest double, to the even one of two. */
export function toDouble(): f64 {
  let top: i32 = 3;
  while (top > 0 && load<u64>(WORD + ((<usize>top) << 3)) === 0) top -= 1;
  let bits = load<u64>(WORD + ((<usize>top) << 3));
  if (top === 0) return <f64>bits;
  const zeros = <u64>clz<u64>(bits);
  const below = load<u64>(WORD + ((<usize>(top - 1)) << 3));
  let rest = below << zeros;
  if (zeros > 0) bits = (bits << zeros) | (below >> (64 - zeros));
  for (let limb: i32 = top - 2; limb >= 0; limb--) rest |= load<u64>(WORD + ((<usize>limb) << 3));
  // What is below 64 bits only tells whether there is more than a half.
  let value = <f64>(bits | (rest !== 0 ? 1 : 0));
  for (let n = (top << 6) - <i32>zeros; n > 0; n--) value *= 2;
  return value;
}

/** Writes the number that was read last, which is lost, in decimal. Returns how many digits it has. */
export function putDigits(to: usize): u32 {
  // The lowest first, at the end of what there is room for.
  const end = to + 90;
  let at = end;
  for (;;) {
    let rest: u64 = 0;
    let isZero = true;
    for (let limb: i32 = 7; limb >= 0; limb--) {
      const place = WORD + ((<usize>limb) << 2);
      const value = (rest << 32) | load<u32>(place);
      const quotient = value / BILLION;
      store<u32>(place, <u32>quotient);
      rest = value - quotient * BILLION;
      if (quotient !== 0) isZero = false;
    }
    let part = <u32>rest;
    for (let digit = 0; digit < 9 && (!isZero || part !== 0); digit++) {
      at -= 1;
      store<u8>(at, 0x30 + (part % 10));
      part /= 10;
    }
    if (isZero) break;
  }
  if (at === end) {
    at -= 1;
    store<u8>(at, 0x30);
  }
  memory.copy(to, at, end - at);
  return <u32>(end - at);
}
