import { once } from 'node:events';
import { constants, crc32, createInflateRaw } from 'node:zlib';
import { bundleInvalid, type FragmentInfo, toName } from './layout/fragment.js';
import { MEMBER_HEAD, memberFrame, memberSize, SEPARATOR } from './layout/member-frame.js';

/** Inclusive byte positions in the file of a bundle. */
interface FileRange {
  start: number;
  end: number;
}

/** Checks bytes of a bundle while they are read in order. */
export interface RangeCheck {
  /** What has to be read: the range, and the rest of the fragments that it touches. */
  read: FileRange;
  /** Checks the next bytes. Throws BUNDLE_INVALID. */
  push(bytes: Buffer): Promise<void>;
  /** Throws BUNDLE_INVALID if bytes are missing. */
  finish(): void;
}

/** A stretch of the file that is compared with known bytes, inflated, or (null) only counted. */
interface Part extends FileRange {
  check: Buffer | FragmentInfo | null;
}

/**
 * Checks a range of bytes of a bundle against its fragment table: the frame (header, separators, trailer) byte by byte,
 * the text of each touched fragment by its length and CRC-32, in constant memory. So it finds what changes any record,
 * and not bits that inflate to the same text (the padding before a stored block).
 *
 * A fragment of which the range needs only a part is read whole, unless that is more than `maxExtraBytes` beyond the
 * range: then the part is only counted. `bodies` has the CRC-32 of the bodies whose text was right, by their first block;
 * it is filled here, and a body in it is not inflated again (a tenth of the work).
 */
export function createRangeCheck(
  fragments: readonly FragmentInfo[],
  range: FileRange,
  { maxExtraBytes, bodies }: { maxExtraBytes: number; bodies: Map<number, number> },
): RangeCheck {
  const parts = touchedParts(fragments, range, maxExtraBytes);
  const read = { start: parts[0]?.start ?? range.start, end: parts.at(-1)?.end ?? range.end };
  let at = 0;
  let position = read.start;
  let text: TextCheck | undefined;
  let bodyCrc = 0;

  const checkNext = async ({ check, start, end }: Part, bytes: Buffer): Promise<void> => {
    if (Buffer.isBuffer(check)) {
      const expected = check.subarray(position - start, position - start + bytes.length);
      if (!bytes.equals(expected))
        throw bundleInvalid(`The frame of the bundle differs at byte ${position}.`);
    } else if (check !== null) {
      const known = bodies.get(check.firstBlock);
      if (position === start) {
        bodyCrc = 0;
        text = known === undefined ? createTextCheck(check) : undefined;
      }
      bodyCrc = crc32(bytes, bodyCrc);
      await text?.push(bytes);
      if (position + bytes.length <= end) return;
      await text?.finish();
      if (text !== undefined) bodies.set(check.firstBlock, bodyCrc);
      else if (known !== bodyCrc) throw bundleInvalid(`The body of ${toName(check)} has changed.`);
    }
  };

  return {
    read,
    async push(bytes) {
      let rest = bytes;
      while (rest.length > 0) {
        const part = parts[at];
        if (part === undefined) throw bundleInvalid(`The bundle goes on behind byte ${read.end}.`);
        const own = rest.subarray(0, part.end + 1 - position);
        await checkNext(part, own);
        rest = rest.subarray(own.length);
        position += own.length;
        if (position > part.end) at += 1;
      }
    },
    finish() {
      if (at === parts.length) return;
      throw bundleInvalid(`The bundle ends at byte ${position}, expected ${read.end + 1} bytes at least.`);
    },
  };
}

function touchedParts(fragments: readonly FragmentInfo[], range: FileRange, maxExtraBytes: number): Part[] {
  const byteLength = memberSize(fragments);
  if (!(range.start >= 0 && range.start <= range.end && range.end < byteLength)) {
    throw bundleInvalid(
      `Bytes ${range.start}-${range.end} are not within the ${byteLength} bytes of the bundle.`,
    );
  }
  const parts: Part[] = [];
  let position = 0;
  const add = (length: number, check: Buffer | FragmentInfo): void => {
    const [start, end] = [position, position + length - 1];
    position += length;
    if (end < range.start || start > range.end) return;
    const within = { start: Math.max(start, range.start), end: Math.min(end, range.end) };
    const extra = length - (within.end - within.start + 1);
    if (Buffer.isBuffer(check)) {
      parts.push({ ...within, check: check.subarray(within.start - start, within.end - start + 1) });
    } else if (extra > maxExtraBytes) parts.push({ ...within, check: null });
    else parts.push({ start, end, check });
  };
  add(MEMBER_HEAD.length, MEMBER_HEAD);
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) add(SEPARATOR.length, SEPARATOR);
    add(fragment.byteLength, fragment);
  }
  // Making the trailer joins the checksums of all fragments: 1 µs each.
  if (range.end >= position) {
    const { tail } = memberFrame(fragments);
    add(tail.length, tail);
  }
  return parts;
}

interface TextCheck {
  push(bytes: Buffer): Promise<void>;
  finish(): Promise<void>;
}

/** Text that is inflated at a time, in bytes: most fragments at once. */
const CHUNK_BYTES = 262_144;

/**
 * Inflates the body of one fragment, and the separator behind it, and checks their text, which is not kept: a body that
 * ends the stream would end the file there.
 */
function createTextCheck(fragment: FragmentInfo): TextCheck {
  const name = toName(fragment);
  const chunkSize = Math.max(64, Math.min(CHUNK_BYTES, fragment.rawLength + 1));
  const inflater = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize });
  const expected = { length: fragment.rawLength + 1, crc: crc32(',', fragment.crc32) };
  let length = 0;
  let crc = 0;
  let failed: Error | undefined;
  const fail = (error: Error): void => {
    failed ??= error;
    inflater.destroy();
  };
  inflater.on('error', (error) => fail(bundleInvalid(`The body of ${name} cannot be inflated.`, error)));
  inflater.on('data', (text: Buffer) => {
    length += text.length;
    crc = crc32(text, crc);
    if (length > expected.length) {
      fail(bundleInvalid(`The text of ${name} is longer than the ${fragment.rawLength} bytes expected.`));
    }
  });
  const settled = async (wait: Promise<unknown>): Promise<void> => {
    // An error is kept by `fail`.
    await wait.catch(() => undefined);
    if (failed !== undefined) throw failed;
  };
  const push = (bytes: Buffer): Promise<void> =>
    settled(
      new Promise<void>((resolve) => {
        inflater.once('close', resolve);
        inflater.write(bytes, () => {
          inflater.off('close', resolve);
          resolve();
        });
      }),
    );
  return {
    push,
    async finish() {
      await push(SEPARATOR);
      if (!inflater.closed) {
        const closed = once(inflater, 'close');
        inflater.end();
        await settled(closed);
      }
      if (length === expected.length && crc === expected.crc) return;
      throw bundleInvalid(`The text of ${name} is not the one that its fragment table says.`);
    },
  };
}
