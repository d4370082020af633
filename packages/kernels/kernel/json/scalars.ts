/*
 * Numbers and words, a byte at a time: there are few of them in what nodes send.
 */

// How far a number is; 0: nothing of it was read, or it is none.
const MINUS: u32 = 1;
const ZERO: u32 = 2;
const INTEGER: u32 = 3;
const POINT: u32 = 4;
const FRACTION: u32 = 5;
const EXPONENT: u32 = 6;
const SIGN: u32 = 7;
const POWER: u32 = 8;
/** From here on: the place of the next byte of a word. */
const WORD: u32 = 16;
/** `true`, `false` and `null`, 8 bytes each. */
const WORDS = memory.data<u8>([
  0x74, 0x72, 0x75, 0x65, 0, 0, 0, 0, 0x66, 0x61, 0x6c, 0x73, 0x65, 0, 0, 0, 0x6e, 0x75, 0x6c, 0x6c, 0, 0, 0,
  0,
]);

/** How far it is behind the bytes at `at`, one for each bit of `rest` up to the first that is not set; 0 if it is none. */
export function stepScalar(from: u32, at: u32, rest: u64): u32 {
  let state = from;
  for (let left = rest, index = at; (left & 1) !== 0; left >>= 1, index++) {
    state = step(state, <u32>load<u8>(index));
    if (state === 0) return 0;
  }
  return state;
}

/** Whether it may end here. */
export function isWhole(state: u32): bool {
  if (state >= WORD) return load<u8>(WORDS + state - WORD) === 0;
  return state === ZERO || state === INTEGER || state === FRACTION || state === POWER;
}

function step(state: u32, byte: u32): u32 {
  if (state >= WORD) return <u32>load<u8>(WORDS + state - WORD) === byte ? state + 1 : 0;
  if (byte - 0x30 < 10) {
    if (state <= MINUS) return byte === 0x30 ? ZERO : INTEGER;
    if (state === ZERO) return 0;
    if (state === POINT) return FRACTION;
    return state === EXPONENT || state === SIGN ? POWER : state;
  }
  if (state === 0) {
    if (byte === 0x2d) return MINUS;
    const word: u32 = byte === 0x74 ? 0 : byte === 0x66 ? 8 : 16;
    return <u32>load<u8>(WORDS + word) === byte ? WORD + word + 1 : 0;
  }
  if (byte === 0x2e) return state === ZERO || state === INTEGER ? POINT : 0;
  if ((byte | 0x20) === 0x65) return state === ZERO || state === INTEGER || state === FRACTION ? EXPONENT : 0;
  return (byte === 0x2b || byte === 0x2d) && state === EXPONENT ? SIGN : 0;
}
