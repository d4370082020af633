import type { BlockRange } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

/** A fragment without its bytes. Block numbers are inclusive. */
export interface FragmentInfo {
  startBlock: number;
  endBlock: number;
  /** Bytes of its deflated body. */
  byteLength: number;
  /** Bytes of its raw text. */
  rawLength: number;
  /** CRC-32 of its raw text, unsigned. */
  crc32: number;
}

/** A run of consecutive blocks of one kind, deflated once: raw DEFLATE that ends on a byte boundary, not final. */
export interface Fragment extends FragmentInfo {
  body: Buffer;
  /** As those of its piece. */
  items?: Buffer;
}

/** Deflated text that can be joined with other pieces: raw DEFLATE, ending in a sync flush, not final. */
export interface Piece {
  body: Buffer;
  /** Bytes of its raw text. */
  rawLength: number;
  /** CRC-32 of its raw text, unsigned. */
  crc32: number;
  /** What the filter of its bundle needs (see item-digests.ts), each item once; absent: not known. */
  items?: Buffer;
}

/** Makes a piece a fragment, given the blocks of its text. */
export function fragmentOf(range: BlockRange, piece: Piece): Fragment {
  return {
    startBlock: range.start,
    endBlock: range.end,
    byteLength: piece.body.length,
    rawLength: piece.rawLength,
    crc32: piece.crc32,
    body: piece.body,
    ...(piece.items === undefined ? {} : { items: piece.items }),
  };
}

/** Throws BUNDLE_INVALID unless there is a fragment and all follow each other without gap or overlap. */
export function checkRun(fragments: readonly FragmentInfo[]): void {
  if (fragments.length === 0) {
    throw new PackhouseError({
      code: 'BUNDLE_INVALID',
      message: 'A bundle needs at least one fragment, got none.',
    });
  }
  let expected = (fragments[0] as FragmentInfo).startBlock;
  for (const { startBlock, endBlock } of fragments) {
    if (startBlock !== expected || endBlock < startBlock) {
      throw new PackhouseError({
        code: 'BUNDLE_INVALID',
        message: `The fragments of a bundle follow each other: expected one that starts at block ${expected}, got ${startBlock}-${endBlock}.`,
        data: { expected, startBlock, endBlock },
      });
    }
    expected = endBlock + 1;
  }
}

/** The error for bytes that are not a bundle; `message` is a whole sentence. */
export function bundleInvalid(message: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'BUNDLE_INVALID',
    message,
    hint: 'The file is damaged, cut off, or was not made by Packhouse; fetch it again.',
    cause,
  });
}
