import { crc32Combine } from './crc32-combine.js';
import type { Piece } from './fragment.js';

/** The piece of the texts in a row, without touching the texts: no piece is final, so their bodies just follow. */
export function joinPieces(pieces: readonly Piece[]): Piece {
  let rawLength = 0;
  let crc32 = 0;
  for (const piece of pieces) {
    crc32 = crc32Combine(crc32, piece.crc32, piece.rawLength);
    rawLength += piece.rawLength;
  }
  return { body: Buffer.concat(pieces.map((piece) => piece.body)), rawLength, crc32 };
}
