import type { Readable } from 'node:stream';
import type { PinnedBody } from '../cache/body-cache.js';
import type { FileRange } from '../http/byte-range.js';

/** A file that can be sent, whole or in part. */
export interface ServedFile {
  /** Hex. */
  sha256: string;
  /** Bytes of gzip. */
  byteLength: number;
  /** Whether the bytes are those of finalized, published data, so that they may be kept for ever. */
  immutable: boolean;
  /** The whole file in memory; null where it has to be streamed. */
  body(): Promise<PinnedBody | null>;
  /** A part of the file from the store. Resolves when the first bytes can be read. */
  stream(range: FileRange): Promise<Readable>;
  /** Must be called once nobody reads the file any more, whether or not it was read. */
  release(): void;
}
