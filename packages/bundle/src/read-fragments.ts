import { promisify } from 'node:util';
import { constants, crc32, inflateRaw, type ZlibOptions } from 'node:zlib';
import { createSplitter, type Splitter } from '@packhouse/json';
import { PackhouseError } from '@packhouse/runtime';
import { SYNC_FLUSH } from './deflate/deflate-piece.js';
import { bundleInvalid, type FragmentInfo, toName } from './layout/fragment.js';
import { MEMBER_HEAD_BYTES, memberFrame, SEPARATOR, SEPARATOR_BYTES } from './layout/member-frame.js';

/* Readers of fragments that a table describes: one record, one fragment, or every byte of a bundle. */

const inflate = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** The limit of DEFLATE: 258 bytes for two bits. */
export const MAX_RATIO = 1_032;

/**
 * Reads the record text of one block from the fragment that holds it, without the rest of its bundle.
 *
 * Throws RANGE_INVALID when the fragment does not hold the block, BUNDLE_INVALID when the bytes are not the fragment's.
 */
export async function readRecord(options: {
  fragment: FragmentInfo;
  body: Buffer;
  block: number;
}): Promise<Buffer> {
  const { fragment, block } = options;
  if (!(block >= fragment.firstBlock && block <= fragment.lastBlock)) {
    throw new PackhouseError({
      code: 'RANGE_INVALID',
      message: `Block ${block} is not in fragment ${fragment.firstBlock}-${fragment.lastBlock}.`,
      data: { block },
    });
  }
  const records = await readFragment(options);
  return records[block - fragment.firstBlock] as Buffer;
}

/**
 * Returns the record texts of a fragment, one a block, in order. The text is checked against its length and CRC-32, and
 * never inflated beyond `rawLength` bytes. Throws BUNDLE_INVALID, which names the mismatch.
 */
export async function readFragment(options: { fragment: FragmentInfo; body: Buffer }): Promise<Buffer[]> {
  return toRecords(options.fragment, await readFragmentText(options));
}

/** The text of a fragment, its records with commas between them; checked as `readFragment` does, but for their number. */
export async function readFragmentText(options: { fragment: FragmentInfo; body: Buffer }): Promise<Buffer> {
  const { fragment, body } = options;
  const name = toName(fragment);
  if (body.length !== fragment.byteLength) {
    throw bundleInvalid(`The body of ${name} has ${body.length} bytes, expected ${fragment.byteLength}.`);
  }
  if (!body.subarray(-SYNC_FLUSH.length).equals(SYNC_FLUSH)) {
    throw bundleInvalid(`The body of ${name} does not end in a sync flush.`);
  }
  const text = await inflateBody(fragment, body, 0);
  if (text.length !== fragment.rawLength) {
    throw bundleInvalid(`The text of ${name} has ${text.length} bytes, expected ${fragment.rawLength}.`);
  }
  checkCrc(fragment, text);
  return text;
}

/** A fragment of a whole bundle, with the record texts it holds, one a block. */
export interface FragmentRecords {
  fragment: FragmentInfo;
  records: Buffer[];
}

/**
 * Reads a whole bundle fragment by fragment and checks every byte of it against its fragment table: the frame
 * (header, separators, trailer) at once, each fragment as it is reached.
 *
 * A fragment is inflated together with the stored block after it, which must yield its comma or bracket. So the
 * fragment neither ends the stream nor depends on earlier bytes, and the whole inflates to exactly its records. The
 * next fragment is inflated ahead. Throws BUNDLE_INVALID, which names the mismatch, with `data.part`: `length`,
 * `frame`, `fragment` or `records`.
 */
export async function* readFragments(options: {
  fragments: readonly FragmentInfo[];
  bytes: Buffer;
}): AsyncGenerator<FragmentRecords, void, undefined> {
  const { fragments, bytes } = options;
  checkFrame(fragments, bytes);
  const texts: Promise<Buffer>[] = [];
  let position = MEMBER_HEAD_BYTES;
  const inflateNext = (): void => {
    const fragment = fragments[texts.length];
    if (fragment === undefined) return;
    const last = texts.length === fragments.length - 1;
    const text = inflateWithNext(
      fragment,
      bytes.subarray(position, position + fragment.byteLength + SEPARATOR_BYTES),
      last ? ']' : ',',
    );
    text.catch(() => undefined);
    texts.push(text);
    position += fragment.byteLength + SEPARATOR_BYTES;
  };
  inflateNext();
  for (const [index, fragment] of fragments.entries()) {
    inflateNext();
    const text = await (texts[index] as Promise<Buffer>);
    // A returned text is not kept.
    delete texts[index];
    yield { fragment, records: checkedRecords(fragment, text) };
  }
}

function checkFrame(fragments: readonly FragmentInfo[], bytes: Buffer): void {
  const frame = memberFrame(fragments);
  if (bytes.length !== frame.byteLength) {
    const difference = bytes.length - frame.byteLength;
    const how =
      difference < 0 ? `is ${-difference} bytes short` : `goes on for ${difference} bytes behind its end`;
    const message = `The bundle ${how}: it has ${bytes.length} bytes, its fragment table makes ${frame.byteLength}.`;
    throw inPart('length', bundleInvalid(message));
  }
  const frameInvalid = (message: string): PackhouseError => inPart('frame', bundleInvalid(message));
  if (!bytes.subarray(0, frame.head.length).equals(frame.head)) {
    throw frameInvalid(
      'The bundle does not begin with the gzip header and the bracket that every bundle has.',
    );
  }
  const tail = bytes.length - frame.tail.length;
  if (!bytes.subarray(tail).equals(frame.tail)) {
    throw frameInvalid(
      `The bundle's trailer, at byte ${tail}, is not the one that its fragment table makes.`,
    );
  }
  let position = MEMBER_HEAD_BYTES;
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0 && !bytes.subarray(position - SEPARATOR_BYTES, position).equals(SEPARATOR)) {
      const at = position - SEPARATOR_BYTES;
      throw frameInvalid(`There is no separator before ${toName(fragment)}, at byte ${at} of the bundle.`);
    }
    position += fragment.byteLength + SEPARATOR_BYTES;
  }
}

async function inflateWithNext(fragment: FragmentInfo, body: Buffer, expected: ',' | ']'): Promise<Buffer> {
  const { rawLength } = fragment;
  try {
    const text = await inflateBody(fragment, body, 1);
    if (text.length !== rawLength + 1 || text[rawLength] !== expected.charCodeAt(0)) {
      throw bundleInvalid(
        `The text of ${toName(fragment)} has not the ${rawLength} bytes expected, or the stream ends in it.`,
      );
    }
    const own = text.subarray(0, rawLength);
    checkCrc(fragment, own);
    return own;
  } catch (error) {
    throw inPart('fragment', error as PackhouseError);
  }
}

function checkedRecords(fragment: FragmentInfo, text: Buffer): Buffer[] {
  try {
    return toRecords(fragment, text);
  } catch (error) {
    throw inPart('records', error as PackhouseError);
  }
}

function inPart(part: 'length' | 'frame' | 'fragment' | 'records', error: PackhouseError): PackhouseError {
  error.data.part = part;
  return error;
}

/** Inflates a body to at most the text of its fragment and `more` bytes. */
async function inflateBody(fragment: FragmentInfo, body: Buffer, more: number): Promise<Buffer> {
  const { rawLength, byteLength } = fragment;
  const name = toName(fragment);
  if (rawLength > byteLength * MAX_RATIO) {
    throw bundleInvalid(`The ${byteLength} bytes of ${name} cannot hold ${rawLength} bytes of text.`);
  }
  try {
    return await inflate(body, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: Math.max(1, rawLength + more),
      // One byte more than needed, so that zlib sees the end without another buffer.
      chunkSize: Math.max(64, rawLength + more + 1),
    });
  } catch (error) {
    const long = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const longer = `The text of ${name} is longer than the ${rawLength} bytes expected.`;
    throw bundleInvalid(long ? longer : `The body of ${name} cannot be inflated.`, error);
  }
}

function checkCrc(fragment: FragmentInfo, text: Buffer): void {
  const crc = crc32(text);
  if (crc === fragment.crc32) return;
  throw bundleInvalid(
    `The text of ${toName(fragment)} has CRC-32 ${crc.toString(16)}, expected ${fragment.crc32.toString(16)}.`,
  );
}

function toRecords(fragment: FragmentInfo, text: Buffer): Buffer[] {
  const splitter = createRecordSplitter('elements');
  const records = [...splitter.push(text), ...splitter.finish()];
  const expected = fragment.lastBlock - fragment.firstBlock + 1;
  if (records.length === expected) return records;
  const { firstBlock, lastBlock } = fragment;
  throw bundleInvalid(
    `Fragment ${firstBlock}-${lastBlock} holds ${records.length} records, expected ${expected}.`,
  );
}

/** Cuts the text of a bundle (`array`) or of a fragment into its records. Throws BUNDLE_INVALID. */
export function createRecordSplitter(form: 'array' | 'elements', maxElementBytes?: number): Splitter<Buffer> {
  const join = (parts: readonly Buffer[]): Buffer => Buffer.concat(parts);
  return createSplitter<Buffer>({ form, join, refuse: bundleInvalid, maxElementBytes });
}
