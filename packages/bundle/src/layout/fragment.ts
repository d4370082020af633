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
