import { once } from 'node:events';
import { constants, crc32, createDeflateRaw } from 'node:zlib';
import { pieceOptions } from './deflate-piece.js';
import type { Piece } from './fragment.js';

/** Deflates a text that comes in parts and is never whole in memory. */
export interface PieceWriter {
  /** Takes the next part; resolves when more may be given. */
  write(part: Buffer): Promise<void>;
  /** Ends the piece on a byte boundary, without a final block. */
  finish(): Promise<Piece>;
  /** Gives up; nothing of it is kept. */
  destroy(): void;
}

/** Parts are gathered to this size before they go to zlib's pool. */
const GATHER_BYTES = 262_144;

/** Makes a writer; its piece is as valid a fragment body as `deflatePiece`'s. */
export function createPieceWriter(level = 4): PieceWriter {
  const deflate = createDeflateRaw({ ...pieceOptions(level), chunkSize: 65_536 });
  const body: Buffer[] = [];
  let failure: Error | undefined;
  deflate.on('data', (chunk: Buffer) => body.push(chunk));
  deflate.on('error', (error) => {
    failure = error;
  });
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  let rawLength = 0;
  let crc = 0;

  const send = async (): Promise<void> => {
    if (gatheredBytes === 0) return;
    const part = Buffer.concat(gathered, gatheredBytes);
    gathered = [];
    gatheredBytes = 0;
    crc = crc32(part, crc);
    if (!deflate.write(part)) await once(deflate, 'drain');
    if (failure !== undefined) throw failure;
  };

  return {
    async write(part) {
      gathered.push(part);
      gatheredBytes += part.length;
      rawLength += part.length;
      if (gatheredBytes >= GATHER_BYTES) await send();
    },
    async finish() {
      await send();
      await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, () => resolve()));
      if (failure !== undefined) throw failure;
      deflate.destroy();
      return { body: Buffer.concat(body), rawLength, crc32: crc };
    },
    destroy() {
      deflate.destroy();
    },
  };
}
