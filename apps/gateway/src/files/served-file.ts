import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  type FragmentInfo,
  type Member,
  memberOfRecord,
  memberSize,
  readRecord,
  spliceMember,
} from '@packhouse/bundle';
import type { BundleRow } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { PackhouseError } from '@packhouse/runtime';
import type { Body, BodyCache, PinnedBody } from '../cache/body-cache.js';
import type { FileRange } from '../http/file-headers.js';
import { Problem } from '../http/problem.js';

/** A file that can be sent, whole or in part. */
export interface ServedFile {
  /** Hex. */
  sha256: string;
  /** Bytes of gzip. */
  byteLength: number;
  /** Whether the bytes are finalized, published data, which clients may cache for ever. */
  immutable: boolean;
  /** The whole file in memory; null if it must be streamed. */
  body(): Promise<PinnedBody | null>;
  /** Reads a part of the file from the store. Resolves when the first bytes can be read. */
  stream(range: FileRange): Promise<Readable>;
  /** Must be called once the file is not needed any more, whether or not it was read. */
  release(): void;
}

/** The part of a bundle's row that serving it needs. */
export type PublishedFacts = Pick<BundleRow, 'objectKey' | 'byteLength' | 'sha256'>;

/** The file of a published bundle, checked against its row while it is read into memory. */
export function publishedFile(
  facts: PublishedFacts,
  parts: { objectStore: ObjectStore; bodies: BodyCache },
): ServedFile {
  const { objectKey, byteLength, sha256 } = facts;
  let pinned: PinnedBody | null = null;
  let released = false;
  return {
    sha256,
    byteLength,
    immutable: true,
    async body() {
      pinned ??= await parts.bodies.pin(objectKey, byteLength, async () => {
        const bytes = await parts.objectStore.read(objectKey);
        if (bytes.length === byteLength && hash('sha256', bytes, 'hex') === sha256) return { bytes, sha256 };
        throw new PackhouseError({
          code: 'OBJECT_MISMATCH',
          message: `The object ${objectKey} has other bytes than its row of the range index says: ${bytes.length} bytes, expected ${byteLength} with SHA-256 ${sha256}.`,
          hint: 'Run `packhouse audit --repair` on this range: it is published again, as the next version.',
          data: { objectKey },
        });
      });
      // The client went away while the body was read, so nobody else will release it.
      if (released) pinned?.release();
      return pinned;
    },
    stream: (range) => parts.objectStore.stream(objectKey, { range }),
    release: () => {
      released = true;
      pinned?.release();
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
export async function blockFile(request: BlockFileRequest, bodies: BodyCache): Promise<ServedFile> {
  const { fragment, block } = request;
  const build = async (): Promise<Body> => {
    const bytes = await spliceBlock(fragment, await request.read(), block);
    return { bytes, sha256: hash('sha256', bytes, 'hex') };
  };
  // With the checksum, because after a reorganisation the same number is another file.
  const { startBlock, endBlock, crc32, rawLength, byteLength } = fragment;
  const key = `${request.folder}/${block}@${startBlock}-${endBlock}:${crc32}:${rawLength}:${byteLength}`;
  const size = memberSize([fragment]);
  const pinned = await bodies.pin(key, size, build);
  if (pinned !== null) return fileInMemory(pinned, request.immutable);
  if (size <= bodies.maxBodyBytes) throw busy();
  return fileInMemory({ ...(await build()), release: () => undefined }, request.immutable);
}

async function spliceBlock(fragment: FragmentInfo, body: Buffer, block: number): Promise<Buffer> {
  const alone = fragment.startBlock === block && fragment.endBlock === block;
  const member: Member = alone
    ? spliceMember([fragment], [body])
    : await memberOfRecord(await readRecord({ fragment, body, block }));
  return Buffer.concat(member.chunks, member.byteLength);
}

function fileInMemory(pinned: PinnedBody, immutable: boolean): ServedFile {
  const { bytes, sha256 } = pinned;
  return {
    sha256,
    byteLength: bytes.length,
    immutable,
    body: async () => pinned,
    stream: async ({ start, end }) => Readable.from([bytes.subarray(start, end + 1)], { objectMode: false }),
    release: () => pinned.release(),
  };
}

function busy(): Problem {
  return new Problem('unavailable', {
    detail: 'Too many downloads are under way; try again in 1 second.',
    members: { retryAfter: 1 },
    headers: { 'retry-after': '1' },
  });
}
