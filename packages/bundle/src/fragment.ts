/** What is known of a fragment without its bytes. Block numbers are inclusive. */
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
}

/** Deflated text that can stand before and after other pieces: raw DEFLATE, ending in a sync flush, not final. */
export interface Piece {
  body: Buffer;
  /** Bytes of its raw text. */
  rawLength: number;
  /** CRC-32 of its raw text, unsigned. */
  crc32: number;
}
