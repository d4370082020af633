import {
  bundleInvalid,
  decodeFragmentTable,
  encodeFragmentTable,
  type FragmentInfo,
} from '../layout/fragment.js';
import { MEMBER_HEAD_BYTES, SEPARATOR_BYTES } from '../layout/member-frame.js';
import { columnsBytes, FINGERPRINT_BITS, type ItemSet, MAX_BITS, RIBBON_BITS } from './item-set.js';

/*
 * The object of a filter; docs/formats.md has its layout:
 *
 *   | head | parts as a fragment table | SHA-256 of each | slots of each | columns of each | times of the blocks |
 */

/** `PHSF`, version, bits of a fingerprint, two zeros, bytes of the table (u32), bytes of the times (u32); little-endian. */
const HEAD_BYTES = 16;
const TABLE_BYTES_AT = 8;
const TIMES_BYTES_AT = 12;
const MAGIC = 0x46534850;
const VERSION = 1;
const HASH_BYTES = 32;

/** A run of whole fragments of a bundle as one, and what is known of it. */
export interface FilteredPart extends FragmentInfo {
  /** Of its bytes in the file. */
  sha256: Buffer;
  items: ItemSet;
}

/** The filter of a bundle. */
export interface BundleFilter {
  /** Ascending; `start` is the position of the part in the file. */
  parts: (FilteredPart & { start: number })[];
  /** For `readTimes`. */
  times: Uint8Array;
}

/** Makes the object of a filter. Throws BUNDLE_INVALID as `encodeFragmentTable`. */
export function encodeFilter(parts: readonly FilteredPart[], times: Uint8Array): Buffer {
  const table = encodeFragmentTable(parts);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  head.set([VERSION, FINGERPRINT_BITS], 4);
  head.writeUInt32LE(table.length, TABLE_BYTES_AT);
  head.writeUInt32LE(times.length, TIMES_BYTES_AT);
  const slots = Buffer.alloc(4 * parts.length);
  for (const [nth, { items }] of parts.entries()) slots.writeUInt32LE(items.slots, 4 * nth);
  const hashes = parts.map(({ sha256 }) => sha256);
  return Buffer.concat([head, table, ...hashes, slots, ...parts.map(({ items }) => items.columns), times]);
}

/** Reads a filter, given the first block of its bundle. Throws BUNDLE_INVALID if these bytes are no whole filter. */
export function readFilter(bytes: Uint8Array, firstBlock: number): BundleFilter {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { bits, table, times } = readHead(view);
  const fragments = decodeFragmentTable(firstBlock, table);
  const hashesAt = HEAD_BYTES + table.length;
  const slotsAt = hashesAt + HASH_BYTES * fragments.length;
  let columnsAt = slotsAt + 4 * fragments.length;
  if (view.length < columnsAt) throw wrongLength(view.length);
  let start = MEMBER_HEAD_BYTES;
  const parts = fragments.map((fragment, nth) => {
    const slots = view.readUInt32LE(slotsAt + 4 * nth);
    if (slots > 0 && slots < RIBBON_BITS)
      throw bundleInvalid(`A set of the filter has ${slots} slots, which is too few.`);
    const columns = view.subarray(columnsAt, columnsAt + columnsBytes(slots, bits));
    columnsAt += columnsBytes(slots, bits);
    const sha256 = view.subarray(hashesAt + HASH_BYTES * nth, hashesAt + HASH_BYTES * (nth + 1));
    const part = { ...fragment, start, sha256, items: { slots, bits, columns } };
    start += fragment.byteLength + SEPARATOR_BYTES;
    return part;
  });
  if (view.length !== columnsAt + times) throw wrongLength(view.length);
  return { parts, times: view.subarray(columnsAt) };
}

/** Bytes of the filter that these bytes begin with. Throws BUNDLE_INVALID. */
export function filterBytes(bytes: Uint8Array): number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { bits, table, times } = readHead(view);
  const parts = decodeFragmentTable(0, table).length;
  const slotsAt = HEAD_BYTES + table.length + HASH_BYTES * parts;
  let length = slotsAt + 4 * parts + times;
  if (view.length < length) throw wrongLength(view.length);
  for (let nth = 0; nth < parts; nth += 1) length += columnsBytes(view.readUInt32LE(slotsAt + 4 * nth), bits);
  if (view.length < length) throw wrongLength(view.length);
  return length;
}

function readHead(view: Buffer): { bits: number; table: Buffer; times: number } {
  if (view.length < HEAD_BYTES || view.readUInt32LE(0) !== MAGIC) {
    throw bundleInvalid(`The ${view.length} bytes of a filter do not begin with PHSF.`);
  }
  const bits = view[5] as number;
  if (view[4] !== VERSION || bits > MAX_BITS) {
    throw bundleInvalid(`The filter has the version ${view[4]}, and this program reads ${VERSION}.`);
  }
  const end = HEAD_BYTES + view.readUInt32LE(TABLE_BYTES_AT);
  if (view.length < end) throw wrongLength(view.length);
  return { bits, table: view.subarray(HEAD_BYTES, end), times: view.readUInt32LE(TIMES_BYTES_AT) };
}

function wrongLength(bytes: number): Error {
  return bundleInvalid(`The filter has ${bytes} bytes, and its head says another number.`);
}
