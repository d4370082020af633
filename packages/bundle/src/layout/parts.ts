import { crc32 } from 'node:zlib';
import { crc32Combine } from './crc32-combine.js';
import type { FragmentInfo } from './fragment.js';
import { SEPARATOR_BYTES } from './member-frame.js';

/** Bytes at which a part is closed: what a filter keeps of one should be little beside it. */
const PART_BYTES = 16_384;

/** The fragments of a bundle by the parts that can be loaded by themselves: at least 16 KiB each, but for the last. */
export function groupParts(fragments: readonly FragmentInfo[]): FragmentInfo[][] {
  const parts: FragmentInfo[][] = [];
  let bytes = PART_BYTES;
  for (const fragment of fragments) {
    if (bytes >= PART_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(fragment);
    bytes += fragment.byteLength;
  }
  return parts;
}

/** Fragments that follow each other as one, whose body has the separators between them. */
export function joinFragments([first, ...others]: readonly FragmentInfo[]): FragmentInfo {
  const joined = { ...(first as FragmentInfo) };
  for (const { lastBlock, byteLength, rawLength, crc32: crc } of others) {
    joined.crc32 = crc32Combine(crc32(',', joined.crc32), crc, rawLength);
    joined.rawLength += 1 + rawLength;
    joined.byteLength += SEPARATOR_BYTES + byteLength;
    joined.lastBlock = lastBlock;
  }
  return joined;
}
