import { pipeline } from 'node:stream/promises';
import { constants, crc32, createInflateRaw } from 'node:zlib';
import { type BlockRange, countBlocks } from '@packhouse/chain';
import { SYNC_FLUSH } from './deflate/deflate-piece.js';
import { bundleInvalid, type FragmentInfo, toName } from './layout/fragment.js';
import {
  MEMBER_HEAD,
  MEMBER_TAIL_BYTES,
  memberFrame,
  SEPARATOR,
  SEPARATOR_BYTES,
} from './layout/member-frame.js';
import { createRecordSplitter } from './read-fragments.js';

/** The end of a body that another one follows. */
const BETWEEN = Buffer.concat([SYNC_FLUSH, SEPARATOR]);

/**
 * Finds the fragment table of a bundle of these blocks in its bytes: the ends of the bodies by the bytes between them,
 * the blocks of each by its records. Throws BUNDLE_INVALID unless the table makes exactly this file.
 */
export async function findFragments(bytes: Buffer, range: BlockRange): Promise<FragmentInfo[]> {
  if (!bytes.subarray(0, MEMBER_HEAD.length).equals(MEMBER_HEAD)) {
    throw bundleInvalid('The file does not begin as a bundle does.');
  }
  const end = bytes.length - MEMBER_TAIL_BYTES;
  const fragments: FragmentInfo[] = [];
  let firstBlock = range.firstBlock;
  for (let position = MEMBER_HEAD.length; position < end; ) {
    // The one record of a single block may be made of pieces, and is never held.
    const single = range.firstBlock === range.lastBlock;
    const found = single ? -1 : bytes.indexOf(BETWEEN, position);
    const bodyEnd = found === -1 || found >= end ? end : found + SYNC_FLUSH.length;
    const { records, ...text } = await readBody(bytes.subarray(position, bodyEnd), single);
    fragments.push({
      firstBlock,
      lastBlock: firstBlock + records - 1,
      byteLength: bodyEnd - position,
      ...text,
    });
    firstBlock += records;
    position = bodyEnd + SEPARATOR_BYTES;
  }
  if (firstBlock !== range.lastBlock + 1) {
    throw bundleInvalid(
      `The file holds ${firstBlock - range.firstBlock} records, expected ${countBlocks([range])} of blocks ${range.firstBlock} to ${range.lastBlock}.`,
    );
  }
  const frame = memberFrame(fragments);
  if (frame.byteLength === bytes.length && bytes.subarray(end).equals(frame.tail)) return fragments;
  throw bundleInvalid(
    `The file is not the bundle of the fragments in it, from ${toName(fragments[0] as FragmentInfo)} on.`,
  );
}

async function readBody(
  body: Buffer,
  single: boolean,
): Promise<{ records: number; rawLength: number; crc32: number }> {
  const splitter = single ? null : createRecordSplitter('elements');
  let [records, rawLength, crc] = [0, 0, 0];
  try {
    await pipeline(
      [body],
      createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH }),
      async (texts: AsyncIterable<Buffer>) => {
        for await (const text of texts) {
          crc = crc32(text, crc);
          rawLength += text.length;
          records += splitter?.push(text).length ?? 0;
        }
      },
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) {
      throw bundleInvalid('A body of the file cannot be inflated.', error);
    }
    throw error;
  }
  records += splitter?.finish().length ?? 1;
  return { records, rawLength, crc32: crc };
}
