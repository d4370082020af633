/*
 * Reads the records of a bundle into columns, whose values are numbered. TypeScript learns the shape of a record, the order of
 * its members, and writes it as steps; records of a shape that is known are read here, any other is given back.
 *
 *   static data with MEMBERS, SHAPES | text, zeros | numbers by member and row | slots, news …
 *
 * What grows is moved to the end of the heap: half of it at most is what was moved.
 */
import {
  COUNTED,
  MAX_MEMBERS,
  MAX_SHAPES,
  MEMBER_BYTES,
  MEMBER_COLUMNS,
  MEMBER_LAST_END,
  MEMBER_LAST_NUMBER,
  MEMBER_LAST_START,
  MEMBER_MASK,
  MEMBER_REQUIRED,
  MEMBER_SIZE,
  MEMBER_SLOTS,
  NEWS_BYTES,
  NO_LIST,
  NO_MEMBER,
  NO_VALUE,
  RECORD_STEP_BYTES,
  RECORD_STEP_COUNT,
  RECORD_STEP_LENGTH,
  RECORD_STEP_MEMBER,
  SHAPE_ABSENT,
  SHAPE_ABSENT_COUNT,
  SHAPE_BYTES,
  SHAPE_LISTS,
  SHAPE_STEPS,
} from '../../src/layout.js';
import { endOfNumber, findQuote, hashOf, isMixed, isSame, objects, skipNested } from './bytes.js';
import { addToColumns, beginColumns, COLUMNS } from './columns.js';
import { allocate, beginHeap } from './heap.js';

export { COLUMNS };

export const MEMBERS = memory.data(MAX_MEMBERS * MEMBER_BYTES, 16);
export const SHAPES = memory.data(MAX_SHAPES * SHAPE_BYTES, 16);

const ZEROS: u32 = 64;
const FIRST_ROWS: u32 = 16384;
const FIRST_NEWS: u32 = 4096;
/** A slot: the hash of a value, its number (0: the slot is free), its start and end (u32 each). At least half are free. */
const SLOT: u32 = 16;
const FIRST_SLOTS: u32 = 512;

let text: usize = 0;
let textEnd: usize = 0;
let members: u32 = 0;
/** How many shapes are known, and the one of the record before. */
let shapes: u32 = 0;
let shape: u32 = 0;
let numbers: usize = 0;
let room: u32 = 0;
let news: usize = 0;
let newsRoom: u32 = 0;
let newsCount: u32 = 0;
let row: u32 = 0;
let stoppedAt: u32 = 0;

/** Begins a text, for `count` members, of which those that are required are set afterwards. Returns its address, or 0. */
export function begin(length: u32, count: u32): usize {
  beginHeap();
  members = count;
  shapes = 0;
  shape = 0;
  text = allocate(length + ZEROS);
  room = FIRST_ROWS;
  numbers = allocate(<usize>room * members * 4);
  newsRoom = FIRST_NEWS;
  news = allocate(<usize>newsRoom * NEWS_BYTES);
  newsCount = 0;
  if (text === 0 || numbers === 0 || news === 0) return 0;
  textEnd = text + length;
  memory.fill(textEnd, 0, ZEROS);
  memory.fill(MEMBERS, 0, MAX_MEMBERS * MEMBER_BYTES);
  beginColumns();
  for (let member: u32 = 0; member < members; member++) {
    const slots = allocate(FIRST_SLOTS * SLOT);
    if (slots === 0) return 0;
    memory.fill(slots, 0, FIRST_SLOTS * SLOT);
    store<u32>(at(member), <u32>slots, MEMBER_SLOTS);
    store<u32>(at(member), FIRST_SLOTS * SLOT - 1, MEMBER_MASK);
  }
  return text;
}

/** Takes a shape that was written, as the first to be tried of as many. */
export function learn(count: u32, newest: u32): void {
  shapes = count;
  shape = newest;
}

/**
 * Reads records from one that begins at `start` to the end of their array, the first as row `first`. Returns the offset
 * behind the array, or 0 if a record is another (`stopped`, `rows`) or there is no memory.
 */
export function read(start: u32, first: u32): u32 {
  row = first;
  let from: usize = text + start;
  let behind: u32 = 0x2c;
  while (behind === 0x2c) {
    let end: usize = 0;
    if (row < room || growRows()) end = record(from);
    if (end === 0) {
      stoppedAt = <u32>(from - text);
      return 0;
    }
    row += 1;
    behind = load<u8>(end);
    from = end + 1;
  }
  // Behind a record without a comma is the end of the array, or a record that nobody knows.
  stoppedAt = <u32>(textEnd - text);
  return behind === 0x5d ? <u32>(from - text) : 0;
}

/** Reads the one record that begins at `start` as row `first`. Returns the offset behind it, or 0 as `read`. */
export function readOne(start: u32, first: u32): u32 {
  row = first;
  const end = row < room || growRows() ? record(text + start) : 0;
  stoppedAt = start;
  if (end === 0) return 0;
  row += 1;
  return <u32>(end - text);
}

/** The row behind the last one, and the offset of the record that is another. */
export function rows(): u32 {
  return row;
}

export function stopped(): u32 {
  return stoppedAt;
}

/** The numbers of a member, from row 0 on. */
export function numbersOf(member: u32): usize {
  return numbers + ((<usize>member * room) << 2);
}

/** Values that were not there before, in the order of their numbers. They are forgotten by `forgetNews`. */
export function newsAt(): usize {
  return news;
}

export function newsLength(): u32 {
  return newsCount;
}

export function forgetNews(): void {
  newsCount = 0;
}

/** Adds the new values of members that have columns here to them, and forgets these. Returns 0 if one cannot be held, or there is no memory. */
export function addNews(): u32 {
  let kept: u32 = 0;
  for (let n: u32 = 0; n < newsCount; n++) {
    const item = news + <usize>n * NEWS_BYTES;
    const member = load<u32>(item);
    const first = load<u32>(at(member), MEMBER_COLUMNS);
    if (first === 0) {
      const free = news + <usize>kept * NEWS_BYTES;
      store<u32>(free, member);
      store<u64>(free, load<u64>(item, 4), 4);
      kept += 1;
      continue;
    }
    const start = text + load<u32>(item, 4);
    if (!addToColumns(first - 1, member, start, text + load<u32>(item, 8))) return 0;
  }
  newsCount = kept;
  return 1;
}

function at(member: u32): usize {
  return MEMBERS + member * MEMBER_BYTES;
}

/** Address behind the record, or 0. It is most often of the same shape as the one before. */
function record(start: usize): usize {
  if (shapes === 0) return 0;
  let end = shaped(start, SHAPES + shape * SHAPE_BYTES);
  for (let n: u32 = 0; end === 0 && n < shapes; n++) {
    if (n === shape) continue;
    end = shaped(start, SHAPES + n * SHAPE_BYTES);
    if (end !== 0) shape = n;
  }
  return end;
}

/** Address behind the record, or 0 if it has another shape. Sets all members, also those that another shape set. */
function shaped(start: usize, known: usize): usize {
  let from = start;
  const steps = known + SHAPE_STEPS;
  for (
    let step = steps, end = steps + load<u32>(known) * RECORD_STEP_BYTES;
    step < end;
    step += RECORD_STEP_BYTES
  ) {
    const length = load<u32>(step, RECORD_STEP_LENGTH);
    if (from + length > textEnd || !isSame(text + load<u32>(step), from, length)) return 0;
    from += length;
    const member = load<u32>(step, RECORD_STEP_MEMBER);
    const count = load<u32>(step, RECORD_STEP_COUNT);
    if (count === NO_VALUE) continue;
    if (count === NO_LIST) from = value(from, member);
    else if (count === COUNTED) from = counted(from, member);
    else from = list(from, known + SHAPE_LISTS + (member << 2), count);
    if (from === 0) return 0;
  }
  for (
    let lacking = known + SHAPE_ABSENT, end = lacking + (load<u32>(known, SHAPE_ABSENT_COUNT) << 2);
    lacking < end;
    lacking += 4
  ) {
    setNumber(load<u32>(lacking), 0);
  }
  return from;
}

/** Address behind a list of objects, or 0. */
function counted(start: usize, member: u32): usize {
  const first = load<u8>(start, 1);
  if (load<u8>(start) !== 0x5b || (first !== 0x7b && first !== 0x5d)) return 0;
  const end = skipNested(start, textEnd);
  if (end === 0 || isMixed) return 0;
  setNumber(member, objects + 1);
  return end;
}

function list(start: usize, elements: usize, count: u32): usize {
  if (load<u8>(start) !== 0x5b) return 0;
  let from = start + 1;
  let found: u32 = 0;
  while (load<u8>(from) === 0x22) {
    from = value(from, found < count ? load<u32>(elements + (found << 2)) : NO_MEMBER);
    found += 1;
    if (from === 0) return 0;
    if (load<u8>(from) !== 0x2c) break;
    from += 1;
    if (load<u8>(from) !== 0x22) return 0;
  }
  for (; found < count; found++) {
    const member = load<u32>(elements + (found << 2));
    if (member === NO_MEMBER) continue;
    if (load<u32>(at(member), MEMBER_REQUIRED) !== 0) return 0;
    setNumber(member, 0);
  }
  return load<u8>(from) === 0x5d ? from + 1 : 0;
}

/** Address behind a value, or 0. Texts with escapes are declined, within lists and objects too. */
function value(start: usize, member: u32): usize {
  if (member !== NO_MEMBER) {
    const last = load<u32>(at(member), MEMBER_LAST_START);
    const length = load<u32>(at(member), MEMBER_LAST_END) - last;
    if (
      length !== 0 &&
      start + length <= textEnd &&
      isSame(text + last, start, length) &&
      isEnd(start + length)
    ) {
      setNumber(member, load<u32>(at(member), MEMBER_LAST_NUMBER));
      return start + length;
    }
  }
  const byte = load<u8>(start);
  let end: usize = 0;
  if (byte === 0x22) {
    end = findQuote(start + 1, textEnd);
    if (end === 0) return 0;
    end += 1;
  } else {
    const word = load<u32>(start);
    // "null", "true", "fals" and "e".
    if (word === 0x6c6c756e) {
      if (member === NO_MEMBER) return start + 4;
      if (load<u32>(at(member), MEMBER_REQUIRED) !== 0) return 0;
      setNumber(member, 0);
      return start + 4;
    }
    if (word === 0x65757274) end = start + 4;
    else if (word === 0x736c6166 && load<u8>(start, 4) === 0x65) end = start + 5;
    else if (byte === 0x5b || byte === 0x7b) end = skipNested(start, textEnd);
    else {
      end = endOfNumber(start);
      if (end === start) return 0;
    }
    if (end === 0) return 0;
  }
  if (member === NO_MEMBER) return end;
  const number = numberOf(member, start, end);
  if (number === 0) return 0;
  setNumber(member, number);
  store<u32>(at(member), <u32>(start - text), MEMBER_LAST_START);
  store<u32>(at(member), <u32>(end - text), MEMBER_LAST_END);
  store<u32>(at(member), number, MEMBER_LAST_NUMBER);
  return end;
}

/** Whether no number goes on there. */
function isEnd(at: usize): bool {
  const byte = load<u8>(at);
  return byte === 0x2c || byte === 0x7d || byte === 0x5d;
}

function setNumber(member: u32, number: u32): void {
  store<u32>(numbersOf(member) + ((<usize>row) << 2), number);
}

/** The number of a value, from 1 on; 0 if there is no memory for a new one. */
function numberOf(member: u32, start: usize, end: usize): u32 {
  const length = <u32>(end - start);
  const hash = hashOf(start, length);
  const slots = load<u32>(at(member), MEMBER_SLOTS);
  const mask = load<u32>(at(member), MEMBER_MASK);
  let slot = (hash * SLOT) & mask;
  for (;;) {
    const found = slots + slot;
    const number = load<u32>(found, 4);
    if (number === 0) break;
    if (load<u32>(found) === hash) {
      const from = load<u32>(found, 8);
      if (load<u32>(found, 12) - from === length && isSame(text + from, start, length)) {
        // The next one like it is compared with this one, which is more likely to be in a cache.
        store<u32>(found, <u32>(start - text), 8);
        store<u32>(found, <u32>(end - text), 12);
        return number;
      }
    }
    slot = (slot + SLOT) & mask;
  }
  const number = load<u32>(at(member), MEMBER_SIZE) + 1;
  if (newsCount === newsRoom && !growNews()) return 0;
  const item = news + <usize>newsCount * NEWS_BYTES;
  store<u32>(item, member);
  store<u32>(item, <u32>(start - text), 4);
  store<u32>(item, <u32>(end - text), 8);
  newsCount += 1;
  store<u32>(at(member), number, MEMBER_SIZE);
  put(slots + slot, hash, number, <u32>(start - text), <u32>(end - text));
  if (SLOT * 2 * number > mask && !growSlots(member)) return 0;
  return number;
}

function put(slot: usize, hash: u32, number: u32, start: u32, end: u32): void {
  store<u32>(slot, hash);
  store<u32>(slot, number, 4);
  store<u32>(slot, start, 8);
  store<u32>(slot, end, 12);
}

function growSlots(member: u32): bool {
  const old = load<u32>(at(member), MEMBER_SLOTS);
  const bytes = load<u32>(at(member), MEMBER_MASK) + 1;
  const slots = allocate(<usize>bytes * 2);
  if (slots === 0) return false;
  memory.fill(slots, 0, <usize>bytes * 2);
  const mask = bytes * 2 - 1;
  for (let from: u32 = old; from < old + bytes; from += SLOT) {
    if (load<u32>(from, 4) === 0) continue;
    let slot = (load<u32>(from) * SLOT) & mask;
    while (load<u32>(slots + slot, 4) !== 0) slot = (slot + SLOT) & mask;
    v128.store(slots + slot, v128.load(from));
  }
  store<u32>(at(member), <u32>slots, MEMBER_SLOTS);
  store<u32>(at(member), mask, MEMBER_MASK);
  return true;
}

function growRows(): bool {
  const larger = allocate(<usize>room * members * 8);
  if (larger === 0) return false;
  for (let member: u32 = 0; member < members; member++) {
    memory.copy(larger + ((<usize>member * room) << 3), numbersOf(member), (<usize>room) << 2);
  }
  numbers = larger;
  room *= 2;
  return true;
}

function growNews(): bool {
  const larger = allocate(<usize>newsRoom * NEWS_BYTES * 2);
  if (larger === 0) return false;
  memory.copy(larger, news, <usize>newsCount * NEWS_BYTES);
  news = larger;
  newsRoom *= 2;
  return true;
}
