/*
 * Slots: which fields an object has, as a mask, and where the value of each one stands.
 *
 *   0: mask (u64) | for each field 8 bytes: address and length of its value
 */
import { MAX_FIELDS } from '../../src/layout.js';
import { putData, putQuantity } from '../shared/rlp.js';
import { region } from './memory.js';
import { hexNumber, same } from './text.js';

const SLOT_BYTES = 8 + 8 * MAX_FIELDS;
export const TRANSACTION_SLOTS: usize = memory.data(SLOT_BYTES, 16);
export const RECEIPT_SLOTS: usize = memory.data(SLOT_BYTES, 16);
export const LOG_SLOTS: usize = memory.data(SLOT_BYTES, 16);
export const TRACE_SLOTS: usize = memory.data(SLOT_BYTES, 16);
export const ACTION_SLOTS: usize = memory.data(SLOT_BYTES, 16);
export const RESULT_SLOTS: usize = memory.data(SLOT_BYTES, 16);
export const ENTRY_SLOTS: usize = memory.data(SLOT_BYTES, 16);

/** Whether there is the field. */
export function has(slots: usize, field: u32): bool {
  return (load<u64>(slots) & ((<u64>1) << field)) !== 0;
}
/** Address of a field's value. */
export function valueAt(slots: usize, field: u32): usize {
  return <usize>load<u32>(slots + 8 + 8 * <usize>field);
}
/** Length of a field's value. */
export function getLength(slots: usize, field: u32): usize {
  return <usize>load<u32>(slots + 8 + 8 * <usize>field, 4);
}
/** Address of the first hex digit of a field, which is DATA or QUANTITY. */
export function digitsAt(slots: usize, field: u32): usize {
  return valueAt(slots, field) + 3;
}
/** Number of its hex digits. */
export function getDigits(slots: usize, field: u32): usize {
  return getLength(slots, field) - 4;
}
/** Whether a field that is there is null. */
export function isNull(slots: usize, field: u32): bool {
  return load<u8>(valueAt(slots, field)) === 0x6e;
}
/** Whether the object lacks the field, or has it as null. */
export function lacks(slots: usize, field: u32): bool {
  return !has(slots, field) || isNull(slots, field);
}
/** Sets a field that the object lacks, or replaces it. */
export function set(slots: usize, field: u32, at: usize, length: usize): void {
  store<u64>(slots, load<u64>(slots) | ((<u64>1) << field));
  put(slots, field, at, length);
}
/** Removes a field. */
export function unset(slots: usize, field: u32): void {
  store<u64>(slots, load<u64>(slots) & ~((<u64>1) << field));
}
export function put(slots: usize, field: u32, at: usize, length: usize): void {
  store<u32>(slots + 8 + 8 * <usize>field, <u32>at);
  store<u32>(slots + 8 + 8 * <usize>field, <u32>length, 4);
}

let pads: usize = 0;
let padsEnd: usize = 0;

/** Makes room for values that the answer has in another form, or lacks. */
export function openPads(bytes: usize): bool {
  pads = region(bytes);
  padsEnd = pads + bytes;
  return pads !== 0;
}

/** Room for so many bytes, 0 if there is none. */
export function pad(bytes: usize): usize {
  if (pads + bytes > padsEnd) return 0;
  const at = pads;
  pads += bytes;
  return at;
}

/** Whether a field is exactly this text. */
export function isText(slots: usize, field: u32, at: usize, length: usize): bool {
  return getLength(slots, field) === length && same(valueAt(slots, field), at, length);
}

/** Whether a field is exactly the text behind its length (u32) at `fact`. */
export function isFact(slots: usize, field: u32, fact: usize): bool {
  return isText(slots, field, fact + 4, <usize>load<u32>(fact));
}
/** The number in a QUANTITY; LARGE from 2^60 on. */
export function getNumber(slots: usize, field: u32): u64 {
  return hexNumber(digitsAt(slots, field), getDigits(slots, field));
}
/** Whether all digits of a field are zeros. */
export function isZero(slots: usize, field: u32): bool {
  const at = digitsAt(slots, field);
  for (let i: usize = 0; i < getDigits(slots, field); i++) if (load<u8>(at + i) !== 0x30) return false;
  return true;
}
/** Puts a field into the RLP. */
export function putNumber(slots: usize, field: u32): void {
  putQuantity(digitsAt(slots, field), getDigits(slots, field));
}
export function putBytes(slots: usize, field: u32): void {
  putData(digitsAt(slots, field), getDigits(slots, field));
}
