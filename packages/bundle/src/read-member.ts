import { promisify } from 'node:util';
import { constants, crc32, inflateRaw, type ZlibOptions } from 'node:zlib';
import { bundleInvalid } from './bundle-invalid.js';
import type { FragmentInfo } from './fragment.js';
import { MAX_RATIO } from './inflate-fragment.js';
import { MEMBER_HEAD_BYTES, memberFrame, SEPARATOR, SEPARATOR_BYTES } from './member-frame.js';
import { createRecordScanner } from './record-scanner.js';

const inflate = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** A fragment out of a whole bundle, with the record texts it holds, one a block. */
export interface MemberFragment {
  fragment: FragmentInfo;
  records: Buffer[];
}

/**
 * Reads a whole bundle fragment by fragment and checks every byte of it against its fragment table: the frame
 * (header, separators, trailer) at once, each fragment as it is reached.
 *
 * A fragment is inflated together with the stored block behind it, which must give its comma or bracket: so the
 * fragment neither ends the stream nor needs what is before it, and the whole inflates to exactly its records. The
 * next fragment is inflated ahead. Throws BUNDLE_INVALID that says what does not agree, with `data.part`: `length`,
 * `frame`, `fragment` or `records`.
 */
export async function* readMember(options: {
  fragments: readonly FragmentInfo[];
  bytes: Buffer;
}): AsyncGenerator<MemberFragment, void, undefined> {
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
    // What was handed out is not kept.
    texts[index] = Promise.resolve(Buffer.alloc(0));
    yield { fragment, records: recordsOf(fragment, text) };
  }
}

/** A sentence about a part of a bundle that is not as its table says. */
function invalid(part: 'length' | 'frame' | 'fragment' | 'records', what: string, cause?: unknown): never {
  const error = bundleInvalid(what, cause);
  error.data.part = part;
  throw error;
}

function checkFrame(fragments: readonly FragmentInfo[], bytes: Buffer): void {
  const frame = memberFrame(fragments);
  if (bytes.length !== frame.byteLength) {
    const difference = bytes.length - frame.byteLength;
    const how =
      difference < 0 ? `is ${-difference} bytes short` : `goes on for ${difference} bytes behind its end`;
    invalid(
      'length',
      `The bundle ${how}: it has ${bytes.length} bytes, its fragment table makes ${frame.byteLength}.`,
    );
  }
  if (!bytes.subarray(0, frame.head.length).equals(frame.head)) {
    invalid('frame', 'The bundle does not begin with the gzip header and the bracket that every bundle has.');
  }
  const tail = bytes.length - frame.tail.length;
  if (!bytes.subarray(tail).equals(frame.tail)) {
    invalid('frame', `The bundle's trailer, at byte ${tail}, is not the one that its fragment table makes.`);
  }
  let position = MEMBER_HEAD_BYTES;
  for (const [index, { startBlock, endBlock, byteLength }] of fragments.entries()) {
    if (index > 0) {
      if (!bytes.subarray(position, position + SEPARATOR_BYTES).equals(SEPARATOR)) {
        invalid(
          'frame',
          `There is no separator before fragment ${startBlock}-${endBlock}, at byte ${position} of the bundle.`,
        );
      }
      position += SEPARATOR_BYTES;
    }
    position += byteLength;
  }
}

async function inflateWithNext(fragment: FragmentInfo, body: Buffer, expected: ',' | ']'): Promise<Buffer> {
  const name = `fragment ${fragment.startBlock}-${fragment.endBlock}`;
  const { rawLength } = fragment;
  if (rawLength > fragment.byteLength * MAX_RATIO) {
    invalid(
      'fragment',
      `The ${fragment.byteLength} bytes of ${name} cannot hold ${rawLength} bytes of text.`,
    );
  }
  let text: Buffer;
  try {
    text = await inflate(body, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: rawLength + 1,
      chunkSize: Math.max(64, rawLength + 2),
    });
  } catch (error) {
    const long = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    invalid(
      'fragment',
      long
        ? `The text of ${name} is longer than the ${rawLength} bytes expected.`
        : `The body of ${name} cannot be inflated.`,
      error,
    );
  }
  if (text.length !== rawLength + 1 || text[rawLength] !== expected.charCodeAt(0)) {
    invalid(
      'fragment',
      `The text of ${name} has not the ${rawLength} bytes expected, or the stream ends in it.`,
    );
  }
  const raw = text.subarray(0, rawLength);
  const crc = crc32(raw);
  if (crc !== fragment.crc32) {
    invalid(
      'fragment',
      `The text of ${name} has CRC-32 ${crc.toString(16)}, expected ${fragment.crc32.toString(16)}.`,
    );
  }
  return raw;
}

function recordsOf({ startBlock, endBlock }: FragmentInfo, text: Buffer): Buffer[] {
  const expected = endBlock - startBlock + 1;
  const scanner = createRecordScanner({ form: 'fragment' });
  let records: Buffer[] = [];
  try {
    records = scanner.push(text);
    records.push(...scanner.finish());
  } catch (error) {
    invalid('records', `The text of fragment ${startBlock}-${endBlock} is not a list of records.`, error);
  }
  if (records.length !== expected) {
    invalid(
      'records',
      `Fragment ${startBlock}-${endBlock} holds ${records.length} records, expected ${expected}.`,
    );
  }
  return records;
}
