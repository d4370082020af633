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
/** Before the first bracket. */
const START: u32 = 8;
const STATES: u32 = 9;

// Tokens by their first bytes. 0: none begins with it.
const STRING: u32 = 1;
/** A number or word. */
export const VALUE: u32 = 2;
const OBJECT: u32 = 3;
const LIST: u32 = 4;
const OBJECT_END: u32 = 5;
const LIST_END: u32 = 6;
const COLON_SIGN: u32 = 7;
const COMMA: u32 = 8;

// Steps that are no state.
/** And the state behind what is opened; with 0x20 it is an object. */
export const OPEN: u32 = 0x40;
export const CLOSE: u32 = 0x80;
export const REFUSED: u32 = 0xff;

/** 16 columns a row. */
export const STEPS = memory.data(144);
/** The column of each byte that begins a token. */
export const TOKENS = memory.data(256);

function set(state: u32, token: u32, step: u32): void {
  store<u8>(STEPS + ((state << 4) | token), <u8>step);
}

function setValue(state: u32, behind: u32): void {
  set(state, STRING, behind);
  set(state, VALUE, behind);
  setOpening(state, behind);
}

function setOpening(state: u32, behind: u32): void {
  set(state, OBJECT, OPEN | 0x20 | behind);
  set(state, LIST, OPEN | behind);
}

function fill(): void {
  memory.fill(STEPS, <u8>REFUSED, STATES << 4);
  set(FIRST_KEY, STRING, COLON);
  set(FIRST_KEY, OBJECT_END, CLOSE);
  set(KEY, STRING, COLON);
  set(COLON, COLON_SIGN, MEMBER);
  setValue(MEMBER, BEHIND_MEMBER);
  set(BEHIND_MEMBER, COMMA, KEY);
  set(BEHIND_MEMBER, OBJECT_END, CLOSE);
  setValue(FIRST_ITEM, BEHIND_ITEM);
  set(FIRST_ITEM, LIST_END, CLOSE);
  setValue(ITEM, BEHIND_ITEM);
  set(BEHIND_ITEM, COMMA, ITEM);
  set(BEHIND_ITEM, LIST_END, CLOSE);
  setOpening(START, BEHIND_ITEM);

  store<u8>(TOKENS + 0x22, <u8>STRING);
  store<u8>(TOKENS + 0x7b, <u8>OBJECT);
  store<u8>(TOKENS + 0x5b, <u8>LIST);
  store<u8>(TOKENS + 0x7d, <u8>OBJECT_END);
  store<u8>(TOKENS + 0x5d, <u8>LIST_END);
  store<u8>(TOKENS + 0x3a, <u8>COLON_SIGN);
  store<u8>(TOKENS + 0x2c, <u8>COMMA);
  // `-`, digits, and the first letters of `true`, `false` and `null`.
  memory.fill(TOKENS + 0x30, <u8>VALUE, 10);
  store<u8>(TOKENS + 0x2d, <u8>VALUE);
  store<u8>(TOKENS + 0x74, <u8>VALUE);
  store<u8>(TOKENS + 0x66, <u8>VALUE);
  store<u8>(TOKENS + 0x6e, <u8>VALUE);
}
fill();
