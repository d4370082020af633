/*
 * What may follow what in JSON (RFC 8259), as a table: a row per state, a column per token.
 */

// What may come next: a name or `}`; a name; `:`; a value of a member; `,` or `}`; and the same of lists.
export const FIRST_KEY: u32 = 0;
export const KEY: u32 = 1;
export const COLON: u32 = 2;
const MEMBER: u32 = 3;
export const BEHIND_MEMBER: u32 = 4;
export const FIRST_ITEM: u32 = 5;
export const ITEM: u32 = 6;
export const BEHIND_ITEM: u32 = 7;

// Tokens by their first bytes.
const STRING: u8 = 1;
/** A number or word. */
export const VALUE: u32 = 2;

// Steps that are no state.
/** And the state behind what is opened; with 0x20 it is an object. */
export const OPEN: u32 = 0x40;
export const CLOSE: u32 = 0x80;
export const REFUSED: u32 = 0xff;

const NO: u8 = 0xff;
const END: u8 = 0x80;
/** An object and a list in an object. */
const MO: u8 = 0x40 | 0x20 | 4;
const ML: u8 = 0x40 | 4;
/** An object and a list in a list. */
const IO: u8 = 0x40 | 0x20 | 7;
const IL: u8 = 0x40 | 7;

/** Columns: nothing that begins a token, string, number or word, `{`, `[`, `}`, `]`, `:`, `,`. */
export const STEPS = memory.data<u8>([
  // FIRST_KEY
  NO,
  <u8>COLON,
  NO,
  NO,
  NO,
  END,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // KEY
  NO,
  <u8>COLON,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // COLON
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  <u8>MEMBER,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // MEMBER
  NO,
  <u8>BEHIND_MEMBER,
  <u8>BEHIND_MEMBER,
  MO,
  ML,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // BEHIND_MEMBER
  NO,
  NO,
  NO,
  NO,
  NO,
  END,
  NO,
  NO,
  <u8>KEY,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // FIRST_ITEM
  NO,
  <u8>BEHIND_ITEM,
  <u8>BEHIND_ITEM,
  IO,
  IL,
  NO,
  END,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // ITEM
  NO,
  <u8>BEHIND_ITEM,
  <u8>BEHIND_ITEM,
  IO,
  IL,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // BEHIND_ITEM
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  END,
  NO,
  <u8>ITEM,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  // Before the first bracket.
  NO,
  NO,
  NO,
  IO,
  IL,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
  NO,
]);

/** The column of each byte that begins a token. */
export const TOKENS = memory.data(256);

function fill(): void {
  store<u8>(TOKENS + 0x22, STRING);
  store<u8>(TOKENS + 0x7b, 3);
  store<u8>(TOKENS + 0x5b, 4);
  store<u8>(TOKENS + 0x7d, 5);
  store<u8>(TOKENS + 0x5d, 6);
  store<u8>(TOKENS + 0x3a, 7);
  store<u8>(TOKENS + 0x2c, 8);
  // `-`, digits, and the first letters of `true`, `false` and `null`.
  store<u8>(TOKENS + 0x2d, <u8>VALUE);
  for (let byte: u32 = 0x30; byte <= 0x39; byte++) store<u8>(TOKENS + byte, <u8>VALUE);
  store<u8>(TOKENS + 0x74, <u8>VALUE);
  store<u8>(TOKENS + 0x66, <u8>VALUE);
  store<u8>(TOKENS + 0x6e, <u8>VALUE);
}
fill();
