/*
 * Hex digits, lower-case and validated before, to bytes. Nothing is read or written outside of them.
 */

/** The value of a digit by its character code. */
export function nibble(code: u32): u32 {
  return (code & 15) + 9 * (code >> 6);
}

/** Decodes an even number of digits; returns the address behind the bytes. */
export function unhex(at: usize, digits: usize, to: usize): usize {
  const end = to + (digits >> 1);
  let from = at;
  let out = to;
  if (digits >= 32) {
    const last = at + digits - 32;
    for (; from < last; from += 32) {
      v128.store(out, sixteenBytes(from));
      out += 16;
    }
    // Again some of the bytes before, if it is not a multiple of 32 digits.
    v128.store(end - 16, sixteenBytes(last));
    return end;
  }
  for (; out < end; out++) {
    store<u8>(out, (nibble(load<u8>(from)) << 4) | nibble(load<u8>(from, 1)));
    from += 2;
  }
  return end;
}

function sixteenBytes(at: usize): v128 {
  return i8x16.narrow_i16x8_u(eightBytes(v128.load(at)), eightBytes(v128.load(at, 16)));
}

/** The bytes of 16 digits, in 16 bits each. */
function eightBytes(digits: v128): v128 {
  // Of the two differences the wrong one is negative, which is large where there is no sign.
  const nibbles = i8x16.min_u(i8x16.sub(digits, i8x16.splat(0x30)), i8x16.sub(digits, i8x16.splat(0x57)));
  // The first of two digits is in the lower byte.
  const both = v128.or(i16x8.shl(nibbles, 4), i16x8.shr_u(nibbles, 8));
  return v128.and(both, i16x8.splat(0xff));
}
