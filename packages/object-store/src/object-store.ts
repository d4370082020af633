import type { Readable } from 'node:stream';

/** Inclusive byte positions, as in an HTTP Range header. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface PutOptions {
  /** Hex SHA-256 of the body; the store verifies it if it can. */
  sha256: string;
  contentType: string;
  /** Small ASCII values stored with the object. */
  metadata: Readonly<Record<string, string>>;
  /** An object under the key with another SHA-256 is kept: OBJECT_EXISTS. One with this SHA-256 is written again. */
  once?: boolean;
  signal?: AbortSignal;
}

/** An object in a listing. */
export interface ListedObject {
  key: string;
  /** Bytes. */
  size: number;
  /** When it was last written, if the store says so. */
  modifiedAt?: Date;
}

export interface ObjectInfo extends ListedObject {
  /** Hex SHA-256, if the store has one. */
  sha256?: string;
  metadata: Readonly<Record<string, string>>;
}

/** What an object is to be. A store compares it with what it knows of the object, not with bytes that changed unnoticed. */
export interface ExpectedObject {
  size: number;
  /** Hex; of S3 compared with the one that the object was written with, if that is known. */
  sha256: string;
}

/** Bytes under keys. Keys are relative paths of `[A-Za-z0-9._-]` segments joined by `/`. */
export interface ObjectStore {
  /** For logs and messages; without credentials. */
  readonly description: string;
  /**
   * Writes the whole object or nothing. `verified` is true if the store itself checked the SHA-256 of the stored bytes;
   * otherwise the caller must read them back. Throws OBJECT_STORE_UNAVAILABLE, OBJECT_MISMATCH, OBJECT_EXISTS, DISK_FULL.
   */
  put(key: string, body: Buffer, options: PutOptions): Promise<{ verified: boolean }>;
  /** Reads the object, or an inclusive part of it, at once. Throws OBJECT_MISSING, OBJECT_STORE_UNAVAILABLE. */
  read(key: string, options?: { range?: ByteRange; signal?: AbortSignal }): Promise<Buffer>;
  /**
   * The same as a stream; resolves when the first bytes can be read, so that a missing object throws here, and one that is
   * not the `expected`: OBJECT_MISMATCH.
   */
  stream(
    key: string,
    options?: { range?: ByteRange | undefined; expected?: ExpectedObject | undefined; signal?: AbortSignal },
  ): Promise<Readable>;
  /** Size, SHA-256 and metadata, or null if there is no such object. */
  head(key: string, options?: { signal?: AbortSignal }): Promise<ObjectInfo | null>;
  /** Keys with this prefix in ascending order, beginning after `after`. */
  list(prefix: string, options?: { after?: string; signal?: AbortSignal }): AsyncIterable<ListedObject>;
  /**
   * An address at which anybody may GET the object for `seconds`, whole or in part, without credentials; made here,
   * whether or not the object exists. Absent: the store has no addresses. Throws OBJECT_STORE_UNAVAILABLE.
   */
  presign?(key: string, seconds: number): Promise<string>;
  /** Deletes; an absent object is no error. */
  delete(key: string): Promise<void>;
  close(): Promise<void>;
}
