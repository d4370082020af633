/*
 * Root of the Merkle-Patricia trie with item i under the key rlp(i), as headers commit to lists (Yellow Paper, appendix D).
 *
 * Keys are known and none begins with another, so the trie is built from the sorted keys by halving at each nibble: a node is
 * written once, and what refers to it goes straight into its parent.
 */
import { keccak } from '../shared/keccak.js';
import { headBefore, isFull, itemCount, itemEnd, itemStart, LIST, STRING } from '../shared/rlp.js';

/** Keys of 4 bytes name so many items. */
const MAX_ITEMS: u32 = 0x1000000;
/**
 * A node that is being written has a frame by the nibbles that are before it. Keys have at most 8, a node that is no leaf
 * decides between keys by the nibbles from its own on, and its children have at least one more before them: 8 frames.
 * A branch takes 3 + 16 * 33 + 1 bytes, an extension 1 + 6 + 33.
 */
const FRAME_BYTES: usize = 544;
const FRAMES = memory.data(8 * 544, 16);
/** Room for a head in front of the payload. */
const FRAME_ROOM: usize = 8;
/** What refers to the root: 33 bytes. */
const ROOT = memory.data(48, 16);
const HASH_REFERENCE: usize = 33;

/**
 * Writes the root of the trie of all items of rlp.ts, 32 bytes; overwrites the room before the items. Returns false, and
 * writes nothing, if something of them did not fit, or if there are more than keys of 4 bytes can name.
 */
export function trieRoot(to: usize): bool {
  const count = itemCount();
  if (isFull() || count > MAX_ITEMS) return false;
  if (count === 0) {
    store<u8>(ROOT, STRING);
    keccak(ROOT, 1, to);
    return true;
  }
  const length = refer(0, count, 0, ROOT) - ROOT;
  // A root is hashed even if it is short enough to be inside of a parent.
  if (length === HASH_REFERENCE) memory.copy(to, ROOT + 1, 32);
  else keccak(ROOT, length, to);
  return true;
}

/**
 * Writes what refers to the keys from place `low` to before `high` in their parent, 33 bytes at most; returns the address
 * behind. `depth` nibbles are before them.
 */
function refer(low: u32, high: u32, depth: u32, to: usize): usize {
  if (high - low === 1) return referToLeaf(itemAt(low), depth, to);
  // The keys are sorted, so that nibbles shared by the first and the last are shared by all.
  let shared = depth;
  while (nibbleAt(low, shared) === nibbleAt(high - 1, shared)) shared++;
  if (shared > depth) return referToExtension(low, high, depth, shared, to);
  const payload = FRAMES + <usize>depth * FRAME_BYTES + FRAME_ROOM;
  let out = payload;
  let from = low;
  for (let digit: u32 = 0; digit < 16; digit++) {
    let end = from;
    while (end < high && nibbleAt(end, depth) === digit) end++;
    if (end > from) out = refer(from, end, depth + 1, out);
    else store<u8>(out++, STRING);
    from = end;
  }
  store<u8>(out++, STRING);
  return referTo(headBefore(payload, out - payload, LIST), out, to);
}

function referToLeaf(item: u32, depth: u32, to: usize): usize {
  const end = itemEnd(item);
  let start = itemStart(item);
  // Items are lists, so that none is its own encoding, as one byte below 0x80 is.
  start = headBefore(start, end - start, STRING);
  start = pathBefore(start, toKey(item), keyLength(item) - depth, 0x20);
  return referTo(headBefore(start, end - start, LIST), end, to);
}

function referToExtension(low: u32, high: u32, depth: u32, shared: u32, to: usize): usize {
  const child = FRAMES + <usize>depth * FRAME_BYTES + FRAME_ROOM;
  const end = refer(low, high, shared, child);
  const item = itemAt(low);
  const path = toKey(item) >> (4 * (keyLength(item) - shared));
  const start = pathBefore(child, path, shared - depth, 0);
  return referTo(headBefore(start, end - start, LIST), end, to);
}

/** A node of 32 bytes and more is referred to by its hash, a shorter one is its own reference. */
function referTo(start: usize, end: usize, to: usize): usize {
  const length = end - start;
  if (length < 32) {
    memory.copy(to, start, length);
    return to + length;
  }
  store<u8>(to, STRING + 32);
  keccak(start, length, to + 1);
  return to + HASH_REFERENCE;
}

/** Writes the last `nibbles` of `path`, hex-prefix encoded (appendix C), before `start`; returns their first byte. */
function pathBefore(start: usize, path: u32, nibbles: u32, flag: u32): usize {
  let rest = path;
  let at = start;
  for (let left = nibbles; left >= 2; left -= 2) {
    store<u8>(--at, rest);
    rest >>= 8;
  }
  store<u8>(--at, (nibbles & 1) === 1 ? flag + 0x10 + (rest & 15) : flag);
  // One byte below 0x80 is its own encoding.
  return start - at > 1 ? headBefore(at, start - at, STRING) : at;
}

/** The item at a place in the order of keys: 1 to 127, 0, 128 and on. */
function itemAt(place: u32): u32 {
  const zero = min<u32>(itemCount(), 128) - 1;
  return place === zero ? 0 : place < zero ? place + 1 : place;
}

function nibbleAt(place: u32, depth: u32): u32 {
  const item = itemAt(place);
  return (toKey(item) >> (4 * (keyLength(item) - 1 - depth))) & 15;
}

/** Nibbles of rlp(item). */
function keyLength(item: u32): u32 {
  if (item < 0x80) return 2;
  return item < 0x100 ? 4 : item < 0x10000 ? 6 : 8;
}

/** rlp(item) as one number. */
function toKey(item: u32): u32 {
  if (item === 0) return 0x80;
  if (item < 0x80) return item;
  if (item < 0x100) return 0x8100 + item;
  return item < 0x10000 ? 0x820000 + item : 0x83000000 + item;
}
