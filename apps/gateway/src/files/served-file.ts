import { hash } from 'node:crypto';
import {
  createRangeCheck,
  type FragmentInfo,
  type Member,
  memberOfRecord,
  memberSize,
  type RangeCheck,
  readRecord,
  spliceMember,
} from '@packhouse/bundle';
import type { Body, BodyCache, PinnedBody } from '../cache/body-cache.js';
import type { FileRange } from '../http/file-headers.js';
import { type Pacer, PIECE_BYTES, resume } from '../http/paced-pieces.js';
import { fileDamaged, unavailable } from '../http/problem.js';
import type { BoundedStore } from './bounded-store.js';
import { checkedPieces, checkWhole, createLengthCheck, createWholeCheck } from './checked-pieces.js';
import type { BundleFacts, DamagedFiles, FileFacts } from './damaged-files.js';

/** A file that can be sent, whole or in part. */
export interface ServedFile {
  /** Hex. */
  sha256: string;
  /** Of all of it. */
  byteLength: number;
  /** Absent: gzip. */
  contentType?: string;
  /** Whether the bytes are finalized, published data, which clients may cache for ever. */
  immutable: boolean;
  /** The whole file in memory, read and checked in the owner's turns; null if it must be streamed. */
  body(owner: number | string): Promise<PinnedBody | null>;
  /**
   * Reads a part of the file from the store and checks it in the owner's turns. Resolves when the first bytes were read; if these are all,
   * they are checked. Fails before the last piece if the file is damaged.
   */
  stream(range: FileRange, owner: number | string): Promise<AsyncIterable<Buffer>>;
  /** Makes an address at which the object store serves the file; absent: the gateway must. */
  address?: (() => Promise<string>) | undefined;
  /** Must be called once the file is not needed any more, whether or not it was read. */
  release(): void;
}

/** What files are read with. */
interface StoredParts {
  store: BoundedStore;
  damaged: DamagedFiles;
  pacer: Pacer;
}

/** What the files of published bundles are read with. */
interface PublishedParts extends StoredParts {
  bodies: BodyCache;
  /** Clients are led to the object store. */
  redirect: boolean;
  /** The fragment table of a bundle. Throws what the database throws, and `unavailable` if it was superseded. */
  getTable(file: BundleFacts): Promise<FragmentTable>;
}

/** The fragments of a bundle, with what is known of their bodies (see createRangeCheck). */
export interface FragmentTable {
  fragments: readonly FragmentInfo[];
  bodies: Map<number, number>;
}

/** Bytes beyond a range that are read at most to check a fragment of which it has a part. */
const MAX_EXTRA_BYTES = 8_388_608;

/** One shared error: its stack is never read, and capturing one for each file costs time. */
const RELEASED = new Error('the file was released');

/**
 * The file of a published bundle. In memory it is checked against its row before the first byte is sent; streamed, it
 * is checked while it is sent, and its last piece only follows if it is right: whole by its SHA-256, a part by the
 * CRC-32 of the fragments that it touches.
 */
export function openPublishedFile(facts: BundleFacts, parts: PublishedParts): ServedFile {
  const { objectKey, byteLength, sha256 } = facts;
  const { store, pacer } = parts;
  const address = parts.redirect ? store.address : undefined;
  const partCheck = async (range: FileRange): Promise<RangeCheck> => {
    const { fragments, bodies } = await parts.getTable(facts);
    return createRangeCheck(fragments, range, { maxExtraBytes: MAX_EXTRA_BYTES, bodies });
  };
  const stored = openStored(facts, parts, partCheck);
  let pinned: PinnedBody | null = null;
  return {
    address: address && (() => address(objectKey)),
    sha256,
    byteLength,
    immutable: true,
    async body(owner) {
      pinned ??= await parts.bodies
        .pin(objectKey, byteLength, async () => {
          const bytes = await store.read(objectKey);
          // Others may wait for these bytes too: if this reader leaves they are still checked.
          await checkWhole(bytes, facts, (length) => pacer.turn(owner, length));
          return { bytes, sha256 };
        })
        .catch((error: unknown) => {
          throw stored.refusal(error);
        });
      // The client went away while the body was read, so nobody else will release it.
      if (stored.isReleased()) pinned?.release();
      return pinned;
    },
    stream: stored.stream,
    release: () => {
      stored.release();
      pinned?.release();
    },
  };
}

/**
 * A data file of the lake, streamed. Whole, it is checked by its SHA-256 before its last piece is sent; of a part only the
 * length is known, and what the store says of the object: readers of Parquet have the checksums of its compression.
 */
export function openDataFile(facts: FileFacts, parts: StoredParts): ServedFile {
  const { byteLength, sha256 } = facts;
  const { stream, release } = openStored(facts, parts, null);
  return {
    sha256,
    byteLength,
    contentType: 'application/vnd.apache.parquet',
    immutable: true,
    body: async () => null,
    stream,
    release,
  };
}

/**
 * Streams an object, checked on its way; `partCheck` is the check of a part, null: its bytes are counted. What shows damage is
 * reported and becomes the refusal.
 */
function openStored(
  facts: FileFacts,
  { store, damaged, pacer }: StoredParts,
  partCheck: ((range: FileRange) => Promise<RangeCheck>) | null,
) {
  const { byteLength } = facts;
  /** Only streams need one. */
  let stop: AbortController | undefined;
  let released = false;
  const refusal = (error: unknown): unknown =>
    !released && damaged.report(facts, error) ? fileDamaged() : error;

  async function* open(
    range: FileRange,
    check: RangeCheck,
    owner: number | string,
  ): AsyncGenerator<Buffer, void, undefined> {
    stop = new AbortController();
    const { signal } = stop;
    if (released) stop.abort(RELEASED);
    const turn = (bytes: number): Promise<void> | undefined => pacer.turn(owner, bytes, signal);
    try {
      // An open stream reads ahead.
      await turn(Math.min(PIECE_BYTES, check.read.end - check.read.start + 1));
      const expected = partCheck === null ? { size: byteLength, sha256: facts.sha256 } : undefined;
      const source = await store.stream(facts.objectKey, { range: check.read, expected, signal });
      yield* checkedPieces(source, check, range, turn);
    } catch (error) {
      throw refusal(error);
    }
  }

  return {
    isReleased: () => released,
    refusal,
    async stream(range: FileRange, owner: number | string): Promise<AsyncIterable<Buffer>> {
      const isWhole = range.start === 0 && range.end === byteLength - 1;
      const check = isWhole
        ? createWholeCheck(facts)
        : ((await partCheck?.(range)) ?? createLengthCheck(facts, range));
      const pieces = open(range, check, owner);
      return resume(await pieces.next(), pieces);
    },
    release: (): void => {
      released = true;
      stop?.abort(RELEASED);
    },
  };
}

interface BlockFileRequest {
  /** `<network>/<kind>`. */
  folder: string;
  block: number;
  /** The fragment that holds the block. */
  fragment: FragmentInfo;
  /** Reads the fragment's body. */
  read(): Promise<Buffer>;
  immutable: boolean;
}

/**
 * The file of one block, from the fragment that holds it: the bytes of the fragment in another frame, or, if the
 * fragment has other blocks too, the block's record deflated again. Throws the problem `unavailable` if slow readers
 * hold all the memory for files.
 */
export async function openBlockFile(request: BlockFileRequest, bodies: BodyCache): Promise<ServedFile> {
  const { fragment, block } = request;
  const build = async (): Promise<Body> => {
    const bytes = await spliceBlock(fragment, await request.read(), block);
    return { bytes, sha256: hash('sha256', bytes, 'hex') };
  };
  // With the checksum, because after a reorganisation the same number is another file.
  const { firstBlock, lastBlock, crc32, rawLength, byteLength } = fragment;
  const key = `${request.folder}/${block}@${firstBlock}-${lastBlock}:${crc32}:${rawLength}:${byteLength}`;
  const size = memberSize([fragment]);
  const pinned = await bodies.pin(key, size, build);
  if (pinned !== null) return fileInMemory(pinned, request.immutable);
  if (size <= bodies.maxBodyBytes) throw unavailable('Too many downloads are in progress');
  return fileInMemory({ ...(await build()), release: () => undefined }, request.immutable);
}

async function spliceBlock(fragment: FragmentInfo, body: Buffer, block: number): Promise<Buffer> {
  const alone = fragment.firstBlock === block && fragment.lastBlock === block;
  const member: Member = alone
    ? spliceMember([fragment], [body])
    : await memberOfRecord(await readRecord({ fragment, body, block }));
  return Buffer.concat(member.chunks, member.byteLength);
}

/** A file whose bytes are there. */
export function fileInMemory(pinned: PinnedBody, immutable: boolean): ServedFile {
  const { bytes, sha256 } = pinned;
  return {
    sha256,
    byteLength: bytes.length,
    immutable,
    body: async () => pinned,
    stream: async ({ start, end }) => one(bytes.subarray(start, end + 1)),
    release: () => pinned.release(),
  };
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  yield bytes;
}
