import type { BlockRange } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

/** A fragment without its bytes. Block numbers are inclusive. */
export interface FragmentInfo extends BlockRange {
  /** Bytes of its deflated body. */
  byteLength: number;
  /** Bytes of its raw text. */
  rawLength: number;
  /** CRC-32 of its raw text, unsigned. */
  crc32: number;
}

/** A run of consecutive blocks of one kind, deflated once. */
export interface Fragment extends FragmentInfo, Piece {}

/** Deflated text that can be joined with other pieces: raw DEFLATE, ending in a sync flush, not final. */
export interface Piece {
  body: Buffer;
  /** Bytes of its raw text. */
  rawLength: number;
  /** CRC-32 of its raw text, unsigned. */
  crc32: number;
  /** What the filter of its bundle needs (see item-digests.ts), each item once; absent: not known. */
  items?: Buffer | undefined;
}

/** Makes a piece a fragment, given the blocks of its text. */
export function toFragment({ firstBlock, lastBlock }: BlockRange, piece: Piece): Fragment {
  return { firstBlock, lastBlock, byteLength: piece.body.length, ...piece };
}

/** Throws BUNDLE_INVALID unless there is a fragment and all follow each other without gap or overlap. */
export function checkRun(fragments: readonly FragmentInfo[]): void {
  let expected = fragments[0]?.firstBlock;
  if (expected === undefined) throw mismatch('A bundle needs at least one fragment, got none.');
  for (const { firstBlock, lastBlock } of fragments) {
    if (firstBlock !== expected || lastBlock < firstBlock) {
      throw mismatch(
        `The fragments of a bundle follow each other: expected one that starts at block ${expected}, got ${firstBlock}-${lastBlock}.`,
        { data: { expected, firstBlock, lastBlock } },
      );
    }
    expected = lastBlock + 1;
  }
}

/** The error for bytes that are not a bundle; `message` is a whole sentence. */
export function bundleInvalid(message: string, cause?: unknown): PackhouseError {
  const hint = 'The file is damaged, cut off, or was not made by Packhouse; fetch it again.';
  return mismatch(message, { hint, cause });
}

/** The error for fragments that are no bundle, or not those of the given bytes. */
export function mismatch(
  message: string,
  more: { hint?: string; data?: Record<string, unknown>; cause?: unknown } = {},
): PackhouseError {
  return new PackhouseError({ code: 'BUNDLE_INVALID', message, ...more });
}

/** A fragment, for messages. */
export function toName({ firstBlock, lastBlock }: FragmentInfo): string {
  return `fragment ${firstBlock}-${lastBlock}`;
}

/*
 * Version byte, number of fragments, and for each: blocks, byteLength, rawLength (varints, seven bits a byte,
 * lowest first) and the CRC-32 (four bytes, lowest first). About eleven bytes a fragment.
 */

const VERSION = 1;
/** Three varints of one byte and a CRC. */
const MIN_ENTRY_BYTES = 7;

function invalid(what: string): PackhouseError {
  const hint = 'The row of the range index was damaged or written by another version.';
  return mismatch(`The fragment table of a bundle is malformed: ${what}.`, { hint });
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/**
 * Encodes the fragments of one bundle, without the first block, which is that of the bundle.
 *
 * Throws BUNDLE_INVALID when the fragments do not follow each other or have impossible sizes.
 */
export function encodeFragmentTable(fragments: readonly FragmentInfo[]): Buffer {
  checkRun(fragments);
  const bytes: number[] = [VERSION];
  pushVarint(bytes, fragments.length);
  for (const { firstBlock, lastBlock, byteLength, rawLength, crc32 } of fragments) {
    for (const value of [lastBlock - firstBlock + 1, byteLength, rawLength]) {
      if (!Number.isSafeInteger(value) || value < 1) throw invalid(`${value} is not a size`);
      pushVarint(bytes, value);
    }
    if (crc32 !== crc32 >>> 0) throw invalid(`${crc32} is not a CRC-32`);
    bytes.push(crc32 & 0xff, (crc32 >>> 8) & 0xff, (crc32 >>> 16) & 0xff, crc32 >>> 24);
  }
  return Buffer.from(bytes);
}

/**
 * Decodes a table, given the bundle's first block. Throws BUNDLE_INVALID for anything that the encoder does not write:
 * another version, missing or extra bytes, numbers in a longer form than needed, sizes of zero.
 */
export function decodeFragmentTable(startBlock: number, bytes: Uint8Array): FragmentInfo[] {
  let position = 0;
  const byte = (): number => {
    const value = bytes[position];
    if (value === undefined) throw invalid(`it ends after ${bytes.length} bytes, in the middle of an entry`);
    position += 1;
    return value;
  };
  const size = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const next = byte();
      value += (next % 128) * scale;
      if (!Number.isSafeInteger(value))
        throw invalid(`the number that ends at byte ${position} is too large`);
      if (next < 128) {
        if (next === 0) throw invalid(`the number that ends at byte ${position} is zero or padded`);
        return value;
      }
    }
  };
  const version = byte();
  if (version !== VERSION) throw invalid(`it has version ${version}, expected ${VERSION}`);
  const count = size();
  if (count * MIN_ENTRY_BYTES > bytes.length) {
    throw invalid(`it announces ${count} fragments in ${bytes.length} bytes`);
  }
  const fragments: FragmentInfo[] = [];
  let next = startBlock;
  for (let index = 0; index < count; index++) {
    const lastBlock = next + size() - 1;
    if (!Number.isSafeInteger(lastBlock)) throw invalid(`fragment ${index} ends beyond all block numbers`);
    const byteLength = size();
    const rawLength = size();
    const crc32 = byte() + byte() * 2 ** 8 + byte() * 2 ** 16 + byte() * 2 ** 24;
    fragments.push({ firstBlock: next, lastBlock, byteLength, rawLength, crc32 });
    next = lastBlock + 1;
  }
  if (position !== bytes.length) throw invalid(`${bytes.length - position} bytes are left over`);
  return fragments;
}
