import type { BlockRange } from '@packhouse/chain';
import type { Fragment, Piece } from './fragment.js';

/** The fragment that a piece is once it is known which blocks its text holds. */
export function fragmentOf(range: BlockRange, piece: Piece): Fragment {
  return {
    startBlock: range.start,
    endBlock: range.end,
    byteLength: piece.body.length,
    rawLength: piece.rawLength,
    crc32: piece.crc32,
    body: piece.body,
  };
}
