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
import type { Body, BodyCache, PinnedBody } from '../cache/body-cache.js';
import { Problem } from '../http/problem.js';
import type { ServedFile } from './served-file.js';

export interface BlockFileRequest {
  /** `<network>/<kind>`. */
  shelf: string;
  block: number;
  /** The fragment that holds the block. */
  fragment: FragmentInfo;
  /** Reads the fragment's body. */
  read(): Promise<Buffer>;
  immutable: boolean;
}

/**
 * The file of one block, from the fragment that holds it: the fragment's own bytes in another frame, or, where other
 * blocks share the fragment, the block's record cut out and deflated again. Throws the problem `unavailable` where
 * slow readers hold all the memory there is for files.
 */
export async function blockFile(request: BlockFileRequest, bodies: BodyCache): Promise<ServedFile> {
  const { fragment, block } = request;
  const build = async (): Promise<Body> => {
    const bytes = await spliceBlock(fragment, await request.read(), block);
    return { bytes, sha256: hash('sha256', bytes, 'hex') };
  };
  // The checksum is in the key: after a reorganisation the same number is another file.
  const { startBlock, endBlock, crc32, rawLength, byteLength } = fragment;
  const key = `${request.shelf}/${block}@${startBlock}-${endBlock}:${crc32}:${rawLength}:${byteLength}`;
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
