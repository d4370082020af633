import { hash } from 'node:crypto';
import { DIGEST_BYTES } from '@packhouse/kernels';

/*
 * What a filter keeps of an item: the first 10 bytes of SHA-256 of a zero byte and the item. Lists of such digests are
 * bytes, one behind the other.
 */

/** The byte before each item. */
export const ITEM_SEED = 0;

/** The digests of items. */
export function toDigests(items: Iterable<Uint8Array>): Buffer {
  const digests: Buffer[] = [];
  for (const item of items) {
    const seeded = Buffer.allocUnsafe(item.length + 1);
    seeded[0] = ITEM_SEED;
    seeded.set(item, 1);
    digests.push(hash('sha256', seeded, 'buffer').subarray(0, DIGEST_BYTES));
  }
  return Buffer.concat(digests);
}

/** Digests as the numbers that they are made of, by their places. */
export interface Digests {
  count: number;
  /** 32 bits each. */
  firsts: Uint32Array;
  ribbons: Uint32Array;
  /** 16 bits each. */
  fingerprints: Uint16Array;
}

/** Reads lists of digests, each digest once. */
export function distinctDigests(lists: readonly Uint8Array[]): Digests {
  const most = lists.reduce((sum, list) => sum + list.length, 0) / DIGEST_BYTES;
  const firsts = new Uint32Array(most);
  const ribbons = new Uint32Array(most);
  const fingerprints = new Uint16Array(most);
  // Their places, counted from 1, by their first bits; at least half of it stays empty.
  const mask = 2 ** Math.ceil(Math.log2(most + 1) + 1) - 1;
  const places = new Uint32Array(mask + 1);
  let count = 0;
  for (const { buffer, byteOffset, byteLength } of lists) {
    const view = new DataView(buffer, byteOffset, byteLength);
    for (let at = 0; at < byteLength; at += DIGEST_BYTES) {
      firsts[count] = view.getUint32(at, true);
      ribbons[count] = view.getUint32(at + 4, true);
      fingerprints[count] = view.getUint16(at + 8, true);
      let slot = (firsts[count] as number) & mask;
      for (; places[slot] !== 0; slot = (slot + 1) & mask) {
        const other = (places[slot] as number) - 1;
        const same = firsts[other] === firsts[count] && ribbons[other] === ribbons[count];
        if (same && fingerprints[other] === fingerprints[count]) break;
      }
      if (places[slot] !== 0) continue;
      count += 1;
      places[slot] = count;
    }
  }
  return { count, firsts, ribbons, fingerprints };
}

/*
 * A set of items as a standard ribbon filter (Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and
 * Xor", 2021) with ribbons of 32 bits and fingerprints of 10, hashed with SHA-256. docs/formats.md has the layout, test
 * vectors and the other structures that were measured.
 */

export const FINGERPRINT_BITS = 10;
/** A reader takes any number of bits up to here. */
export const MAX_BITS = 16;
/** The bits of a fingerprint that are kept. */
const KEPT = 2 ** FINGERPRINT_BITS - 1;
export const RIBBON_BITS = 32;
/** Slots of an item, and more for each doubling of the items: so that the first try works mostly. */
const SLOTS = 1.02;
const SLOTS_OF_DOUBLING = 0.01;
/** More for each try that did not work. */
const SLOTS_OF_TRY = 0.02;
/** Only items that were chosen to contradict each other need more. */
const TRIES = 64;
/** The slots of a set that leaves nothing out. */
const ANYTHING = 0xffffffff;

/** Whether an item is in it can be asked: yes is wrong for 1 of 1,024 others. */
export interface ItemSet {
  /** 0: it has no items. */
  slots: number;
  /** Of a fingerprint. */
  bits: number;
  /** A column of bits for each bit of a fingerprint. */
  columns: Uint8Array;
}

/** The set that leaves nothing out: of a kind whose items are not collected. */
export const OPEN_SET: ItemSet = { slots: ANYTHING, bits: FINGERPRINT_BITS, columns: new Uint8Array() };

/**
 * Builds the set of the items with these digests. The same items in any order, repeated or not, give the same bytes:
 * about 11.5 bits per item.
 */
export function buildItemSet(lists: readonly Uint8Array[]): ItemSet {
  const digests = distinctDigests(lists);
  if (digests.count === 0) return { slots: 0, bits: FINGERPRINT_BITS, columns: new Uint8Array() };
  for (let nth = 0; nth < TRIES; nth += 1) {
    const factor = SLOTS + SLOTS_OF_DOUBLING * Math.log2(digests.count) + SLOTS_OF_TRY * nth;
    const slots = Math.ceil(digests.count * factor) + RIBBON_BITS + nth;
    const solution = solve(slots, digests);
    if (solution !== null) return { slots, bits: FINGERPRINT_BITS, columns: toColumns(solution) };
  }
  return OPEN_SET;
}

/** Whether all items with these digests may be in the set: false is certain. */
export function mayHold({ slots, bits, columns }: ItemSet, digests: Digests): boolean {
  if (slots === ANYTHING) return true;
  if (slots === 0) return digests.count === 0;
  const columnBytes = Math.ceil(slots / 8);
  for (let nth = 0; nth < digests.count; nth += 1) {
    const { first, ribbon, fingerprint } = getEquation(slots, digests, nth);
    for (let bit = 0; bit < bits; bit += 1) {
      const window = bitsAt(columns, bit * columnBytes, first);
      if (parity(window & ribbon) !== ((fingerprint >>> bit) & 1)) return false;
    }
  }
  return true;
}

/** Bytes of the columns of a set. */
export function columnsBytes(slots: number, bits: number): number {
  return slots === ANYTHING ? 0 : bits * Math.ceil(slots / 8);
}

function toColumns(solution: Uint16Array): Uint8Array {
  const columnBytes = Math.ceil(solution.length / 8);
  const columns = new Uint8Array(FINGERPRINT_BITS * columnBytes);
  for (const [slot, value] of solution.entries()) {
    for (let bit = 0; bit < FINGERPRINT_BITS; bit += 1) {
      const at = bit * columnBytes + (slot >>> 3);
      columns[at] = (columns[at] as number) | (((value >>> bit) & 1) << (slot & 7));
    }
  }
  return columns;
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
function bitsAt(columns: Uint8Array, column: number, first: number): number {
  const at = column + (first >>> 3);
  const byte = (index: number): number => columns[at + index] ?? 0;
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
