import { bundleInvalid } from '../layout/fragment.js';
import { type Digests, distinctDigests, toDigests } from './item-digests.js';

/*
 * A standard ribbon filter (Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021) with
 * ribbons of 32 bits and fingerprints of 10, hashed with SHA-256. docs/formats.md has the layout, test vectors and the
 * other structures that were measured.
 */

/** `PHSF`, version, seed, bits of a fingerprint, 0, slots (u32), items (u32), bytes behind the columns (u32); little-endian. */
const HEAD_BYTES = 20;
const TIMES_BYTES_AT = 16;
const MAGIC = 0x46534850;
const VERSION = 1;
const FINGERPRINT_BITS = 10;
/** A reader takes any number of bits up to here. */
const MAX_BITS = 16;
/** The bits of a fingerprint that are kept. */
const KEPT = 2 ** FINGERPRINT_BITS - 1;
const RIBBON_BITS = 32;
/** Slots of an item, and more for each doubling of the items: so that the first seed works mostly. */
const SLOTS = 1.02;
const SLOTS_OF_DOUBLING = 0.01;
/** More for each seed that did not work. */
const SLOTS_OF_SEED = 0.02;
export const SEEDS = 256;

/**
 * Builds the filter of a set: `mayContain` is true for each of these items, and for 1 of 1,024 others. The same items
 * in any order, repeated or not, give the same bytes: about 11.5 bits per item.
 */
export function buildSkipFilter(items: Iterable<Uint8Array>): Uint8Array {
  const all = [...items];
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const filter = filterOfDigests([toDigests(all, seed)], seed);
    if (filter !== null) return filter;
  }
  throw new Error(`no seed gives a filter of ${all.length} items`);
}

/** Builds the filter of the items with these digests; null if that takes another seed: the next one is tried. */
export function filterOfDigests(lists: readonly Uint8Array[], seed: number): Uint8Array | null {
  const digests = distinctDigests(lists);
  const { count } = digests;
  if (count === 0) return frame(0, 0, 0);
  const factor = SLOTS + SLOTS_OF_DOUBLING * Math.log2(count) + SLOTS_OF_SEED * seed;
  const slots = Math.ceil(count * factor) + RIBBON_BITS;
  const solution = solve(slots, digests);
  if (solution === null) return null;
  const filter = frame(seed, slots, count);
  const columnBytes = Math.ceil(slots / 8);
  for (const [slot, value] of solution.entries()) {
    for (let bit = 0; bit < FINGERPRINT_BITS; bit += 1) {
      const at = HEAD_BYTES + bit * columnBytes + (slot >>> 3);
      filter[at] = (filter[at] as number) | (((value >>> bit) & 1) << (slot & 7));
    }
  }
  return filter;
}

/** Whether the item may be in the set: false is certain. Throws BUNDLE_INVALID if these bytes are no whole filter. */
export function mayContain(filter: Uint8Array, item: Uint8Array): boolean {
  return mayContainAll(filter, [toDigests([item], getSeed(filter))]);
}

/** The seed that a filter was made with. Throws BUNDLE_INVALID if these bytes are no whole filter. */
export function getSeed(filter: Uint8Array): number {
  const length = skipFilterBytes(filter);
  if (filter.length !== length) throw wrongLength(filter.length, length);
  return filter[5] as number;
}

/** Whether all items with these digests, by the seed of the filter, may be in the set. */
export function mayContainAll(filter: Uint8Array, lists: readonly Uint8Array[]): boolean {
  if (isOpen(filter)) return true;
  const digests = distinctDigests(lists);
  const slots = getSlots(filter);
  if (slots === 0) return digests.count === 0;
  const columnBytes = Math.ceil(slots / 8);
  for (let nth = 0; nth < digests.count; nth += 1) {
    const { first, ribbon, fingerprint } = getEquation(slots, digests, nth);
    for (let bit = 0; bit < toBits(filter); bit += 1) {
      const window = bitsAt(filter, HEAD_BYTES + bit * columnBytes, first);
      if (parity(window & ribbon) !== ((fingerprint >>> bit) & 1)) return false;
    }
  }
  return true;
}

/** The filter that leaves nothing out: of a kind whose items are not collected. */
export function openFilter(): Uint8Array {
  const filter = frame(0, 0, 0);
  filter[6] = 0;
  return filter;
}

/** Whether a filter leaves nothing out. */
export function isOpen(filter: Uint8Array): boolean {
  return toBits(filter) === 0;
}

/** A filter with other bytes behind its columns. */
export function withTail(filter: Uint8Array, tail: Uint8Array): Uint8Array {
  const columns = filter.subarray(0, columnsEnd(filter));
  const whole = new Uint8Array(columns.length + tail.length);
  whole.set(columns);
  whole.set(tail, columns.length);
  toView(whole).setUint32(TIMES_BYTES_AT, tail.length, true);
  return whole;
}

/** The bytes behind the columns of a whole filter. Throws BUNDLE_INVALID. */
export function getTail(filter: Uint8Array): Uint8Array {
  return filter.subarray(columnsEnd(filter), skipFilterBytes(filter));
}

/** Bytes of the filter that these bytes begin with. Throws BUNDLE_INVALID. */
export function skipFilterBytes(bytes: Uint8Array): number {
  if (bytes.length < HEAD_BYTES || toView(bytes).getUint32(0, true) !== MAGIC) {
    throw bundleInvalid(`The ${bytes.length} bytes of a filter do not begin with PHSF.`);
  }
  if (bytes[4] !== VERSION || toBits(bytes) > MAX_BITS) {
    throw bundleInvalid(`The filter has the version ${bytes[4]}, and this program reads ${VERSION}.`);
  }
  const slots = getSlots(bytes);
  const length = columnsEnd(bytes) + toView(bytes).getUint32(TIMES_BYTES_AT, true);
  if (bytes.length < length) throw wrongLength(bytes.length, length);
  if (slots > 0 && slots < RIBBON_BITS)
    throw bundleInvalid(`The filter has ${slots} slots, which is too few.`);
  return length;
}

function filterBytes(slots: number, bits: number): number {
  return HEAD_BYTES + bits * Math.ceil(slots / 8);
}

function columnsEnd(filter: Uint8Array): number {
  return filterBytes(getSlots(filter), toBits(filter));
}

function toBits(filter: Uint8Array): number {
  return filter[6] as number;
}

function getSlots(filter: Uint8Array): number {
  return toView(filter).getUint32(8, true);
}

function toView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function wrongLength(got: number, expected: number): Error {
  return bundleInvalid(`The filter has ${got} bytes, and its head says ${expected}.`);
}

function frame(seed: number, slots: number, items: number): Uint8Array {
  const filter = new Uint8Array(filterBytes(slots, FINGERPRINT_BITS));
  const view = toView(filter);
  view.setUint32(0, MAGIC, true);
  filter.set([VERSION, seed, FINGERPRINT_BITS], 4);
  view.setUint32(8, slots, true);
  view.setUint32(12, items, true);
  return filter;
}

/** One item: the XOR of the slots `first + i` for which bit i of `ribbon` is set must be its fingerprint. */
function getEquation(slots: number, { firsts, ribbons, fingerprints }: Digests, nth: number) {
  return {
    first: (firsts[nth] as number) % (slots - RIBBON_BITS + 1),
    /** 32 bits, the lowest is set. */
    ribbon: ((ribbons[nth] as number) | 1) >>> 0,
    /** 16 bits, of which a filter keeps the lower ones. */
    fingerprint: fingerprints[nth] as number,
  };
}

/** The values of the slots, free ones 0, by Gaussian elimination; null if two equations contradict each other. */
function solve(slots: number, digests: Digests): Uint16Array | null {
  const ribbons = new Uint32Array(slots);
  const values = new Uint16Array(slots);
  for (let nth = 0; nth < digests.count; nth += 1) {
    let { first, ribbon, fingerprint } = getEquation(slots, digests, nth);
    while (ribbon !== 0 && ribbons[first] !== 0) {
      ribbon = (ribbon ^ (ribbons[first] as number)) >>> 0;
      fingerprint ^= values[first] as number;
      const zeros = ribbon === 0 ? 0 : 31 - Math.clz32(ribbon & -ribbon);
      ribbon >>>= zeros;
      first += zeros;
    }
    if (ribbon === 0) {
      // Two items that are alike in all that is kept of them.
      if ((fingerprint & KEPT) !== 0) return null;
      continue;
    }
    ribbons[first] = ribbon;
    values[first] = fingerprint;
  }
  for (let slot = slots - 1; slot >= 0; slot -= 1) {
    // Without its lowest bit: that of the slot itself.
    for (let rest = (ribbons[slot] as number) & ~1; rest !== 0; rest &= rest - 1) {
      const other = slot + 31 - Math.clz32(rest & -rest);
      values[slot] = (values[slot] as number) ^ (values[other] as number);
    }
  }
  return values;
}

/** 32 bits from bit `first` of a column on. */
function bitsAt(filter: Uint8Array, column: number, first: number): number {
  const at = column + (first >>> 3);
  const byte = (index: number): number => filter[at + index] ?? 0;
  const shift = first & 7;
  const low = (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> shift;
  return shift === 0 ? low : low | (byte(4) << (32 - shift));
}

function parity(bits: number): number {
  let folded = bits ^ (bits >>> 16);
  folded ^= folded >>> 8;
  folded ^= folded >>> 4;
  return (0x6996 >>> (folded & 15)) & 1;
}
