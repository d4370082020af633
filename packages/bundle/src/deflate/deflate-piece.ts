import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib';
import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Piece } from '../layout/fragment.js';
import { crc32Combine } from '../layout/member-frame.js';

const deflate = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);

/** The end of every piece: an empty stored block, which puts the stream on a byte boundary (RFC 1951, 3.2.4). */
export const SYNC_FLUSH = Buffer.from([0x00, 0x00, 0xff, 0xff]);

/** Below this the round trip to zlib's pool (100 µs of CPU) costs more than the work (16 µs for 1.5 KB). */
const POOL_BYTES = 4_096;

/** Parts of a text are joined to this size, and then deflated as a piece. */
const GATHER_BYTES = 1_048_576;
/** Such pieces that may be deflated while the next one is gathered. */
const AHEAD = 2;

/** Deflates a text into a piece; of whole records of a kind that has filters, it may find the items. */
export type Deflate = (text: Buffer, kind?: Kind) => Promise<Piece>;

/**
 * How pieces are deflated; `level` is zlib's, 1 to 9.
 *
 * From level 4 on, Z_FILTERED and a window of 8 KiB suit hex in JSON best: a match of up to five bytes costs
 * more bits than the Huffman codes of five hex digits, and searching further back costs more time than it finds.
 * On 12 mainnet blocks of all five kinds at level 4 that is 144 MB/s and 4.92 : 1, against 129 MB/s and 4.74 : 1 with
 * zlib's defaults; it also inflates a quarter faster. Levels 1 to 3 ignore the strategy and lose with the window.
 */
function pieceOptions(level: number): ZlibOptions {
  return { level, memLevel: 9, ...(level >= 4 ? { strategy: constants.Z_FILTERED, windowBits: 13 } : {}) };
}

/** Deflates a text into a piece, off the main thread unless it is tiny; `level` is zlib's, 1 to 9. */
export async function deflatePiece(raw: Buffer, level = 4): Promise<Piece> {
  const options: ZlibOptions = {
    ...pieceOptions(level),
    finishFlush: constants.Z_SYNC_FLUSH,
    // Nearly always the whole output in one buffer: each further one is another round trip to the pool.
    chunkSize: Math.max(1_024, raw.length >> 2),
  };
  const body = raw.length < POOL_BYTES ? deflateRawSync(raw, options) : await deflate(raw, options);
  if (!body.subarray(-SYNC_FLUSH.length).equals(SYNC_FLUSH)) {
    throw new PackhouseError({
      code: 'INTERNAL',
      message: `zlib ended ${raw.length} bytes of text with ${body.subarray(-4).toString('hex')}, expected a sync flush (0000ffff).`,
      hint: 'This Node version cannot make fragments; use a released Node 20 or 22.',
    });
  }
  return { body, rawLength: raw.length, crc32: crc32(raw) };
}

/** Joins pieces without inflating them: no piece is final, so their bodies are just concatenated. */
export function joinPieces(pieces: readonly Piece[]): Piece {
  let rawLength = 0;
  let crc32 = 0;
  for (const piece of pieces) {
    crc32 = crc32Combine(crc32, piece.crc32, piece.rawLength);
    rawLength += piece.rawLength;
  }
  return { body: Buffer.concat(pieces.map((piece) => piece.body)), rawLength, crc32 };
}

/** Deflates a text that comes in parts and is never whole in memory. */
interface PieceWriter {
  /** Takes the next part; resolves when it accepts more. */
  write(part: Buffer): Promise<void>;
  /** Ends the piece on a byte boundary, without a final block. */
  finish(): Promise<Piece>;
}

/**
 * Creates a writer; its piece is as valid a fragment body as that of `deflatePiece`. It is made of a piece for each
 * megabyte, which costs a few bytes in ten thousand: matches do not reach from one into the other.
 */
export function createPieceWriter(deflate: Deflate = (text) => deflatePiece(text)): PieceWriter {
  const pieces: Promise<Piece>[] = [];
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;

  const send = (): void => {
    const piece = deflate(Buffer.concat(gathered, gatheredBytes));
    // It is awaited later; until then a rejection must not count as unhandled.
    piece.catch(() => undefined);
    pieces.push(piece);
    gathered = [];
    gatheredBytes = 0;
  };

  return {
    async write(part) {
      gathered.push(part);
      gatheredBytes += part.length;
      if (gatheredBytes < GATHER_BYTES) return;
      send();
      await pieces.at(-1 - AHEAD);
    },
    async finish() {
      if (gatheredBytes > 0 || pieces.length === 0) send();
      return joinPieces(await Promise.all(pieces));
    },
  };
}

/** Buffers have a multiple of this size, so that one fits the next text. */
const STEP_BYTES = 262_144;
/** What is kept at most. */
const MAX_BYTES = 16_777_216;

/**
 * Buffers that are used again. Memory outside of its heap makes V8 collect the heap each time some of it
 * was added, however little is in the heap.
 */
export class SpareBuffers {
  /** The longest used first. */
  #spare: ArrayBuffer[] = [];
  #bytes = 0;

  /** So many bytes, which hold anything. */
  take(bytes: number): Buffer<ArrayBuffer> {
    return Buffer.from(this.#find(bytes), 0, bytes);
  }

  copy(text: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(this.#find(text.length), 0, text.length);
    copy.set(text);
    return copy;
  }

  /** Takes back a buffer that nobody else has. */
  giveBack(buffer: ArrayBuffer): void {
    this.#spare.push(buffer);
    this.#bytes += buffer.byteLength;
    while (this.#bytes > MAX_BYTES) this.#bytes -= this.#spare.shift()?.byteLength ?? 0;
  }

  /** The smallest that is large enough, and not twice as large. */
  #find(bytes: number): ArrayBuffer {
    const needed = Math.ceil(bytes / STEP_BYTES) * STEP_BYTES;
    let best = -1;
    let least = 2 * needed + 1;
    for (const [at, { byteLength }] of this.#spare.entries()) {
      if (byteLength < needed || byteLength >= least) continue;
      best = at;
      least = byteLength;
    }
    if (best === -1) return new ArrayBuffer(needed);
    this.#bytes -= least;
    return this.#spare.splice(best, 1)[0] as ArrayBuffer;
  }
}
