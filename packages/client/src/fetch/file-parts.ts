import { type BundleFilter, type FragmentInfo, memberSize } from '@packhouse/bundle';

/** A run of blocks of a file that can be loaded by itself. */
export interface FilePart extends FragmentInfo {
  /** The position of its first byte in the file. */
  start: number;
  /** Of its bytes. */
  sha256: Buffer;
}

/** Inclusive positions of bytes. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A request costs about as much as so many bytes: nearer parts are loaded together with what is between them. */
const REQUEST_BYTES = 65_536;
/** A file of which at least this share is read is loaded whole: it is checked and kept as a file. */
const MOST = 0.75;
/** Parts are in memory until they are read; more than this are loaded as a file. */
const MAX_BYTES = 16_777_216;

/** What has to be loaded for parts that ascend, and have at least one. */
export function toRanges(parts: readonly FilePart[]): ByteRange[] {
  const ranges: ByteRange[] = [];
  for (const { start, byteLength } of parts) {
    const end = start + byteLength - 1;
    const last = ranges.at(-1);
    if (last !== undefined && start - last.end <= REQUEST_BYTES) last.end = end;
    else ranges.push({ start, end });
  }
  return ranges;
}

export function sumOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
}

/** Whether loading parts costs less than loading their file; `bytes` are those of the file by its entry. */
export function isWorthIt(parts: readonly FilePart[], filter: BundleFilter, bytes: number): boolean {
  if (memberSize(filter.parts) !== bytes) return false;
  const wanted = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const ranges = toRanges(parts);
  const load = sumOf(ranges) + (ranges.length - 1) * REQUEST_BYTES;
  return wanted < bytes * MOST && load <= Math.min(bytes, MAX_BYTES);
}

const NUMBERS = 6;
const HASH_BYTES = 32;
const PACKED_BYTES = NUMBERS * 8 + HASH_BYTES;

/** Parts as bytes, 80 each: a plan has those of all its files. */
export function packParts(parts: readonly FilePart[]): Buffer {
  const packed = Buffer.alloc(parts.length * PACKED_BYTES);
  for (const [nth, part] of parts.entries()) {
    const { firstBlock, lastBlock, byteLength, rawLength, crc32, start } = part;
    const at = nth * PACKED_BYTES;
    for (const [place, value] of [firstBlock, lastBlock, byteLength, rawLength, crc32, start].entries()) {
      packed.writeDoubleLE(value, at + 8 * place);
    }
    packed.set(part.sha256, at + 8 * NUMBERS);
  }
  return packed;
}

/** The parts that `packParts` packed. */
export function unpackParts(packed: Buffer): FilePart[] {
  return Array.from({ length: packed.length / PACKED_BYTES }, (_, nth) => {
    const at = nth * PACKED_BYTES;
    const value = (place: number): number => packed.readDoubleLE(at + 8 * place);
    return {
      firstBlock: value(0),
      lastBlock: value(1),
      byteLength: value(2),
      rawLength: value(3),
      crc32: value(4),
      start: value(5),
      sha256: packed.subarray(at + 8 * NUMBERS, at + PACKED_BYTES),
    };
  });
}
