/*
 * Values as Parquet has them without an encoding: one after another, each with its end and a hash of its bytes. Texts have
 * their length before them.
 */
import {
  COLUMN_AT,
  COLUMN_BYTES,
  COLUMN_COUNT,
  COLUMN_FORM,
  COLUMN_LENGTH,
  COLUMN_ROOM,
  COLUMN_VALUE_BYTES,
  COLUMN_VALUES,
  COLUMN_VALUES_ROOM,
  FORM_DECIMAL,
  FORM_DIGITS,
  FORM_DOUBLE,
  FORM_INT32,
  FORM_INT64,
  FORM_PATH,
  FORM_TEXT,
  MAX_COLUMNS,
} from '../../src/layout.js';
import { hashOf } from './bytes.js';
import { allocate } from './heap.js';
import { isQuantity, putDigits, readNumber, readQuantity, toDouble, WORD } from './quantity.js';

const FIRST_BYTES: u32 = 4096;
const FIRST_VALUES: u32 = 512;
/** Digits of a number below 2^256, and the length before them. */
const MAX_DIGITS: u32 = 96;
const MAX_INT32: u64 = 0x7fffffff;
const MAX_INT64: u64 = ((<u64>MAX_INT32) << 32) | 0xffffffff;
/** 10^38 - 1, what DECIMAL(38,0) holds. */
const MAX_DECIMAL_HIGH: u64 = ((<u64>0x4b3b4ca8) << 32) | 0x5a86c47a;
const MAX_DECIMAL_LOW: u64 = ((<u64>0x098a223f) << 32) | 0xffffffff;

export const COLUMNS = memory.data(MAX_COLUMNS * COLUMN_BYTES, 16);

/** Forgets all columns. Those of the next text are set afterwards. */
export function beginColumns(): void {
  memory.fill(COLUMNS, 0, MAX_COLUMNS * COLUMN_BYTES);
}

/** Adds a value of a member to its columns, of which the first is given. Returns false as `addValue`. */
export function addToColumns(first: u32, member: u32, start: usize, end: usize): bool {
  for (
    let column = COLUMNS + <usize>first * COLUMN_BYTES;
    column < COLUMNS + MAX_COLUMNS * COLUMN_BYTES && load<u32>(column) === member;
    column += COLUMN_BYTES
  ) {
    if (!addValue(column, start, end)) return false;
  }
  return true;
}

/** Adds the value from `start` to `end`, quotes included. Returns false if the column cannot hold it, or there is no memory. */
function addValue(column: usize, start: usize, end: usize): bool {
  const form = load<u32>(column, COLUMN_FORM);
  const length = <u32>(end - start);
  const to = roomFor(column, length + MAX_DIGITS);
  if (to === 0) return false;
  let written: u32 = 0;
  if (form === FORM_TEXT) {
    if (load<u8>(start) !== 0x22) return false;
    written = length + 2;
    store<u32>(to, length - 2);
    memory.copy(to + 4, start + 1, length - 2);
  } else if (form === FORM_PATH) {
    if (!isPath(start, end)) return false;
    written = length + 4;
    store<u32>(to, length);
    memory.copy(to + 4, start, length);
  } else if (form === FORM_INT64 || form === FORM_INT32) {
    if (!readNumber(start, end)) return false;
    const number = load<u64>(WORD);
    if (number > (form === FORM_INT64 ? MAX_INT64 : MAX_INT32)) return false;
    written = form === FORM_INT64 ? 8 : 4;
    store<u64>(to, number);
  } else {
    if (!isQuantity(start, end) || !readQuantity(start + 3, end - 1)) return false;
    if (form === FORM_DECIMAL) {
      const low = load<u64>(WORD);
      const high = load<u64>(WORD, 8);
      if ((load<u64>(WORD, 16) | load<u64>(WORD, 24)) !== 0) return false;
      if (high > MAX_DECIMAL_HIGH || (high === MAX_DECIMAL_HIGH && low > MAX_DECIMAL_LOW)) return false;
      store<u64>(to, bswap<u64>(high));
      store<u64>(to, bswap<u64>(low), 8);
      written = 16;
    } else if (form === FORM_DOUBLE) {
      store<f64>(to, toDouble());
      written = 8;
    } else if (form === FORM_DIGITS) {
      const digits = putDigits(to + 4);
      store<u32>(to, digits);
      written = digits + 4;
    } else return false;
  }
  return note(column, to, written);
}

/** Notes the end and the hash of a value that was written. */
function note(column: usize, to: usize, written: u32): bool {
  const count = load<u32>(column, COLUMN_COUNT);
  if (count === load<u32>(column, COLUMN_VALUES_ROOM)) {
    const room = count === 0 ? FIRST_VALUES : count * 2;
    const larger = allocate(<usize>room * COLUMN_VALUE_BYTES);
    if (larger === 0) return false;
    memory.copy(larger, load<u32>(column, COLUMN_VALUES), <usize>count * COLUMN_VALUE_BYTES);
    store<u32>(column, <u32>larger, COLUMN_VALUES);
    store<u32>(column, room, COLUMN_VALUES_ROOM);
  }
  const end = load<u32>(column, COLUMN_LENGTH) + written;
  const value = load<u32>(column, COLUMN_VALUES) + count * COLUMN_VALUE_BYTES;
  store<u32>(value, end);
  store<u32>(value, hashOf(to, written), 4);
  store<u32>(column, end, COLUMN_LENGTH);
  store<u32>(column, count + 1, COLUMN_COUNT);
  return true;
}

/** Where the next value is written, with room for as many bytes; 0: there is no memory. */
function roomFor(column: usize, bytes: u32): usize {
  const length = load<u32>(column, COLUMN_LENGTH);
  const room = load<u32>(column, COLUMN_ROOM);
  const at = load<u32>(column, COLUMN_AT);
  if (length + bytes <= room) return at + length;
  let wanted = room === 0 ? FIRST_BYTES : room * 2;
  while (wanted < length + bytes) wanted *= 2;
  const larger = allocate(wanted);
  if (larger === 0) return 0;
  memory.copy(larger, at, length);
  store<u32>(column, <u32>larger, COLUMN_AT);
  store<u32>(column, wanted, COLUMN_ROOM);
  return larger + length;
}

/** Whether there is a list of whole numbers without a leading zero, of at most nine digits: JSON has these as they are. */
function isPath(start: usize, end: usize): bool {
  if (load<u8>(start) !== 0x5b) return false;
  if (end - start === 2) return true;
  let digits: u32 = 0;
  let first: u32 = 0;
  for (let at = start + 1; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte - 0x30 < 10) {
      if (digits === 0) first = byte;
      else if (first === 0x30) return false;
      digits += 1;
      if (digits > 9) return false;
      continue;
    }
    if (digits === 0) return false;
    if (byte === 0x5d) return at + 1 === end;
    if (byte !== 0x2c) return false;
    digits = 0;
  }
  return false;
}
