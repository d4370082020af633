import type { PackhouseError } from '@packhouse/runtime';
import { checkRun, type FragmentInfo, mismatch } from './fragment.js';

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
