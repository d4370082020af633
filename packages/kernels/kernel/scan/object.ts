/*
 * Reads objects into slots: which fields it has, as a mask, and where the value of each one stands.
 *
 *   0: mask (u64) | for each field 8 bytes: address and length of its value
 */
import * as L from '../../src/layout';
import * as F from './fields';
import { accessList } from './lists.js';
import { ACTION_SLOTS, pad, put, RESULT_SLOTS } from './slots.js';
import {
  boolean,
  CLOSE_OBJECT,
  COMMA,
  data,
  fixedHex,
  hashes,
  integer,
  integers,
  nothing,
  OPEN_OBJECT,
  objects,
  plain,
  quantity,
  word,
} from './text.js';

/** Most hashes in a list that is no list of topics. */
const MANY: u32 = 0xffffffff;
const MAX_TOPICS: u32 = 4;
/** A quote, a colon. */
const QUOTE: u32 = 0x22;
const COLON: u32 = 0x3a;

/** DATA of 32 bytes with its quotes. */
const WORD_LENGTH: usize = 68;

/** The word of fewer digits at `p`, of `length` bytes with its quotes, with leading zeros; its address or 0. */
function padded(p: usize, length: usize): usize {
  const at = pad(WORD_LENGTH);
  if (at === 0) return 0;
  const digits = length - 4;
  store<u32>(at, 0x783022);
  memory.fill(at + 3, 0x30, 64 - digits);
  memory.copy(at + 67 - digits, p + 3, digits);
  store<u8>(at + 67, QUOTE);
  return at;
}

/** The place in the tables of the name at `p`, with `length` bytes; 0 if no field has it. */
function find(kind: u32, p: usize, length: u32): usize {
  let first = load<u64>(p);
  if (length < 8) first &= ((<u64>1) << ((<u64>length) << 3)) - 1;
  let place = F.getPlace(kind, first, length);
  while (true) {
    const found = load<u32>(place);
    if (found === 0) return 0;
    if (
      found === length &&
      load<u64>(place, L.PLACE_NAME) === first &&
      sameName(place + L.PLACE_NAME, p, length)
    )
      return place;
    place = F.nextPlace(place);
  }
}

/** Whether two names of this length are the same, whose first 8 bytes are. */
function sameName(known: usize, p: usize, length: u32): bool {
  if (length <= 8) return true;
  const last = <usize>length - 8;
  if (load<u64>(known + last) !== load<u64>(p + last)) return false;
  return length <= 16 || load<u64>(known, 8) === load<u64>(p, 8);
}

/** Length of the name at `p`, up to its quote; 0 if it is longer than any field's. */
function nameLength(p: usize): u32 {
  const quote = i8x16.splat(0x22);
  const near = i8x16.bitmask(i8x16.eq(v128.load(p), quote));
  if (near !== 0) return ctz(near);
  const far = i8x16.bitmask(i8x16.eq(v128.load(p, 16), quote));
  if (far === 0) return 0;
  const length = 16 + ctz(far);
  return length > L.MAX_NAME_LENGTH ? 0 : length;
}

/**
 * Reads an object whose fields the table of `kind` has, each at most once, into slots. Returns the address behind it, or 0.
 * What is between quotes is hex or printable ASCII without escapes, so a name that has an escape is not found.
 */
export function readObject(p: usize, kind: u32, slots: usize): usize {
  if (<u32>load<u8>(p) !== OPEN_OBJECT) return 0;
  let mask: u64 = 0;
  if (<u32>load<u8>(p, 1) === CLOSE_OBJECT) {
    store<u64>(slots, 0);
    return p + 2;
  }
  while (true) {
    if (<u32>load<u8>(p, 1) !== QUOTE) return 0;
    p += 2;
    const name = nameLength(p);
    if (name === 0) return 0;
    const place = find(kind, p, name);
    if (place === 0) return 0;
    const field = load<u32>(place, L.PLACE_FIELD);
    const form = load<u32>(place, L.PLACE_FORM);
    const bit = (<u64>1) << field;
    if ((mask & bit) !== 0) return 0;
    mask |= bit;
    p += name + 1;
    if (<u32>load<u8>(p) !== COLON) return 0;
    p++;
    const end = readValue(p, form, slots, field);
    if (end === 0) return 0;
    p = end;
    const byte = <u32>load<u8>(p);
    if (byte === COMMA) continue;
    if (byte !== CLOSE_OBJECT) return 0;
    store<u64>(slots, mask);
    return p + 1;
  }
}

/** Reads the value of a field and notes where it is. Returns the address behind it, or 0. */
function readValue(p: usize, form: u32, slots: usize, field: u32): usize {
  let end: usize = 0;
  if (load<u8>(p) === 0x6e) {
    end = (form & L.OR_NULL) === 0 ? 0 : nothing(p);
    put(slots, field, p, 4);
    return end;
  }
  switch (form & 0xff) {
    case F.QUANTITY:
      end = quantity(p);
      break;
    case F.DATA:
      end = data(p);
      break;
    case F.BYTES_20:
      end = fixedHex(p, 40);
      break;
    case F.BYTES_32:
      end = fixedHex(p, 64);
      break;
    case F.BYTES_256:
      end = fixedHex(p, 512);
      break;
    case F.WORD: {
      end = word(p);
      if (end === 0 || end - p === WORD_LENGTH) break;
      const at = padded(p, end - p);
      put(slots, field, at, WORD_LENGTH);
      return at === 0 ? 0 : end;
    }
    case F.INTEGER:
      end = integer(p);
      break;
    case F.BOOLEAN:
      end = boolean(p);
      break;
    case F.TEXT:
      end = plain(p);
      break;
    case F.HASHES:
      end = hashes(p, MANY);
      break;
    case F.TOPICS:
      end = hashes(p, MAX_TOPICS);
      break;
    case F.INTEGERS:
      end = integers(p);
      break;
    case F.LOGS:
    case F.AUTHORIZATIONS:
      end = objects(p);
      break;
    case F.ACCESS_LIST:
      end = accessList(p);
      break;
    case F.ACTION_OBJECT:
      end = readObject(p, F.ACTION, ACTION_SLOTS);
      break;
    case F.RESULT_OBJECT:
      end = readObject(p, F.RESULT, RESULT_SLOTS);
      break;
    default:
      return 0;
  }
  put(slots, field, p, end - p);
  return end;
}
