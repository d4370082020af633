/*
 * RLP (Yellow Paper, appendix B) of items, one after the other in one region: transactions, receipts or withdrawals.
 *
 *   24 bytes of room | head, payload | 24 bytes of room | head, payload | …
 *
 * The head of an item is written before its payload once that is complete, and trie.ts writes the head of a leaf before it, so
 * that leaves are hashed in place. What does not fit is not written, and nothing else is either until the next `openRlp`: an
 * item needs 24 bytes and those of its encoding, and 8 more for each list of unknown length that is open at once.
 */
import { nibble, unhex } from './hex.js';
import { keccak } from './keccak.js';

/** An item takes at most 1 byte of type and 5 of its head in there; a leaf 5 + 6 of a path + 5 more. */
const HEADROOM: usize = 24;
/** Room for the head of a list whose length is not known yet; it takes at most 5. */
const LIST_ROOM: usize = 9;
/** First bytes of heads. */
export const STRING: u32 = 0x80;
export const LIST: u32 = 0xc0;

/** The next byte, and the end of the region: equal, and `full` true, once something did not fit. */
let next: usize = 0;
let limit: usize = 0;
let full = true;
/** Start and end of each item, 4 bytes each. */
let firstItem: usize = 0;
let nextItem: usize = 0;
let lastItem: usize = 0;

/** Forgets all items; writes bytes from `at` to before `end`, and 8 bytes an item from `items` to before `itemsEnd`. */
export function openRlp(at: usize, end: usize, items: usize, itemsEnd: usize): void {
  next = at;
  limit = end;
  full = false;
  firstItem = items;
  nextItem = items;
  lastItem = itemsEnd;
}

/** Whether something did not fit. */
export function isFull(): bool {
  return full;
}
export function itemCount(): u32 {
  return <u32>((nextItem - firstItem) >> 3);
}
/** The first byte of a finished item. */
export function itemStart(i: u32): usize {
  return <usize>load<u32>(firstItem + ((<usize>i) << 3));
}
/** The address behind a finished item. */
export function itemEnd(i: u32): usize {
  return <usize>load<u32>(firstItem + ((<usize>i) << 3), 4);
}

/** Begins an item that is a list; returns the address of its payload. */
export function beginItem(): usize {
  if (fits(HEADROOM)) next += HEADROOM;
  return next;
}

/** Ends an item, with the type byte of EIP-2718 in front unless it is 0. Returns false if something did not fit. */
export function endItem(payload: usize, type: u32): bool {
  if (lastItem - nextItem < 8) overflow();
  if (full) return false;
  let start = headBefore(payload, next - payload, LIST);
  if (type !== 0) store<u8>(--start, type);
  store<u32>(nextItem, <u32>start);
  store<u32>(nextItem, <u32>next, 4);
  nextItem += 8;
  return true;
}

/** Hashes what the item that is begun would be if it ended here, into 32 bytes at `to`; false if something did not fit. */
export function hashUnfinished(payload: usize, type: u32, to: usize): bool {
  if (full) return false;
  let start = headBefore(payload, next - payload, LIST);
  if (type !== 0) store<u8>(--start, type);
  keccak(start, next - start, to);
  return true;
}

/** Where the next byte goes. */
export function position(): usize {
  return next;
}

/** Takes back all that was written since `position` was `at`. */
export function rewind(at: usize): void {
  if (!full) next = at;
}

/** Writes a number of any count of digits, without its leading zeros. */
export function putQuantity(at: usize, digits: usize): void {
  let from = at;
  let rest = digits;
  for (; rest > 0 && load<u8>(from) === 0x30; rest--) from++;
  if (rest === 0) {
    putEmpty();
    return;
  }
  const own = rest === 1 || (rest === 2 && load<u8>(from) < 0x38);
  if (!head((rest + 1) >> 1, own)) return;
  if ((rest & 1) === 1) {
    store<u8>(next++, nibble(load<u8>(from++)));
    rest--;
  }
  next = unhex(from, rest, next);
}

/** Writes a byte string of an even count of digits. */
export function putData(at: usize, digits: usize): void {
  if (head(digits >> 1, digits === 2 && load<u8>(at) < 0x38)) next = unhex(at, digits, next);
}

/** Writes the byte string of no bytes. */
export function putEmpty(): void {
  if (fits(1)) store<u8>(next++, STRING);
}

/** Writes the head of a list whose payload will be `length` bytes. */
export function putListHead(length: usize): void {
  const bytes = headLength(length);
  if (!fits(bytes)) return;
  next += bytes;
  headBefore(next, length, LIST);
}

/** Begins a list inside of an item, or of such a list; returns the address that `endList` wants. */
export function beginList(): usize {
  if (fits(LIST_ROOM)) next += LIST_ROOM;
  return next;
}

/** Ends the list: writes its head into the room before, and moves the payload back to it. */
export function endList(payload: usize): void {
  if (full) return;
  const length = next - payload;
  const behindHead = payload - LIST_ROOM + headLength(length);
  headBefore(behindHead, length, LIST);
  memory.copy(behindHead, payload, length);
  next = behindHead + length;
}

/** Bytes of a list of `length` bytes with its head. */
export function rlpListLength(length: usize): usize {
  return headLength(length) + length;
}

/** Writes a head right before `start`; returns its first byte. */
export function headBefore(start: usize, length: usize, kind: u32): usize {
  if (length < 56) {
    store<u8>(start - 1, kind + <u32>length);
    return start - 1;
  }
  let at = start;
  for (let rest = length; rest > 0; rest >>= 8) store<u8>(--at, <u8>rest);
  store<u8>(at - 1, kind + 55 + <u32>(start - at));
  return at - 1;
}

/** Writes the head of a string of `length` bytes, unless it is one byte that is its `own`; false if it does not fit. */
function head(length: usize, own: bool): bool {
  const bytes: usize = own ? 0 : headLength(length);
  if (!fits(bytes + length)) return false;
  next += bytes;
  if (!own) headBefore(next, length, STRING);
  return true;
}

function headLength(length: usize): usize {
  return length < 56 ? 1 : <usize>(5 - (clz(<u32>length) >> 3));
}

/** Whether there is room for so many bytes, one at least; false ever after if not. */
function fits(bytes: usize): bool {
  if (bytes <= limit - next) return true;
  overflow();
  return false;
}

function overflow(): void {
  next = limit;
  full = true;
}
