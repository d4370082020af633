import type { LakeFile } from '@packhouse/database';
import type { BoundedStore } from '../files/bounded-store.js';
import { checkedPieces, createWholeCheck } from '../files/checked-pieces.js';
import type { ServedFile } from '../files/served-file.js';
import type { FileRange } from '../http/file-headers.js';
import { type Pacer, PIECE_BYTES, resume } from '../http/paced-pieces.js';

/** One shared error: its stack is never read. */
const RELEASED = new Error('the file was released');

/**
 * A data file of the lake, streamed. Whole, it is checked by its SHA-256 before its last piece is sent; a part is not
 * checked: readers of Parquet have only the checksums of its compression.
 */
export function openLakeFile(
  { objectKey, bytes, sha256 }: LakeFile,
  { store, pacer }: { store: BoundedStore; pacer: Pacer },
): ServedFile {
  const stop = new AbortController();
  const { signal } = stop;
  async function* open(range: FileRange, owner: number | string): AsyncGenerator<Buffer, void, undefined> {
    const turn = (length: number): Promise<void> | undefined => pacer.turn(owner, length, signal);
    await turn(Math.min(PIECE_BYTES, range.end - range.start + 1));
    const source = await store.stream(objectKey, range, signal);
    const whole = range.start === 0 && range.end === bytes - 1;
    const check = whole
      ? createWholeCheck({ objectKey, byteLength: bytes, sha256 })
      : { read: range, push: async () => undefined, finish: () => undefined };
    yield* checkedPieces(source, check, range, turn);
  }
  return {
    sha256,
    byteLength: bytes,
    contentType: 'application/vnd.apache.parquet',
    immutable: true,
    body: async () => null,
    async stream(range, owner) {
      const pieces = open(range, owner);
      return resume(await pieces.next(), pieces);
    },
    release: () => stop.abort(RELEASED),
  };
}
