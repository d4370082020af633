import { once } from 'node:events';
import { constants, crc32, createInflateRaw } from 'node:zlib';
import { SYNC_FLUSH } from './deflate-piece.js';
import { bundleInvalid, type FragmentInfo } from './fragment.js';
import { memberFrame, SEPARATOR } from './member-frame.js';

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
 * range: then the part is only counted.
 */
export function createRangeCheck(
  fragments: readonly FragmentInfo[],
  range: FileRange,
  { maxExtraBytes }: { maxExtraBytes: number },
): RangeCheck {
  const parts = touchedParts(fragments, range, maxExtraBytes);
  const read = { start: parts[0]?.start ?? range.start, end: parts.at(-1)?.end ?? range.end };
  let at = 0;
  let position = read.start;
  let text: ReturnType<typeof createTextCheck> | undefined;

  const checkNext = async ({ check, start, end }: Part, bytes: Buffer): Promise<void> => {
    if (Buffer.isBuffer(check)) {
      const expected = check.subarray(position - start, position - start + bytes.length);
      if (!bytes.equals(expected))
        throw bundleInvalid(`The frame of the bundle differs at byte ${position}.`);
    } else if (check !== null) {
      text ??= createTextCheck(check);
      await text.push(bytes);
      if (position + bytes.length > end) {
        await text.finish();
        text = undefined;
      }
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
  const { head, tail, byteLength } = memberFrame(fragments);
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
  add(head.length, head);
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) add(SEPARATOR.length, SEPARATOR);
    add(fragment.byteLength, fragment);
  }
  add(tail.length, tail);
  return parts;
}

/** Inflates the body of one fragment and checks its text, which is not kept. */
function createTextCheck(fragment: FragmentInfo): {
  push(bytes: Buffer): Promise<void>;
  finish(): Promise<void>;
} {
  const name = `fragment ${fragment.startBlock}-${fragment.endBlock}`;
  const inflater = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 65_536 });
  let length = 0;
  let crc = 0;
  let last: Buffer = Buffer.alloc(0);
  let failed: Error | undefined;
  const fail = (error: Error): void => {
    failed ??= error;
    inflater.destroy();
  };
  inflater.on('error', (error) => fail(bundleInvalid(`The body of ${name} cannot be inflated.`, error)));
  inflater.on('data', (text: Buffer) => {
    length += text.length;
    crc = crc32(text, crc);
    if (length > fragment.rawLength) {
      fail(bundleInvalid(`The text of ${name} is longer than the ${fragment.rawLength} bytes expected.`));
    }
  });
  const settled = async (wait: Promise<unknown>): Promise<void> => {
    // An error is kept by `fail`.
    await wait.catch(() => undefined);
    if (failed !== undefined) throw failed;
  };
  return {
    push: (bytes) => {
      last = Buffer.concat([last, bytes.subarray(-SYNC_FLUSH.length)]).subarray(-SYNC_FLUSH.length);
      return settled(
        new Promise<void>((resolve) => {
          inflater.once('close', resolve);
          inflater.write(bytes, () => {
            inflater.off('close', resolve);
            resolve();
          });
        }),
      );
    },
    async finish() {
      if (!inflater.closed) {
        const closed = once(inflater, 'close');
        inflater.end();
        await settled(closed);
      }
      if (length !== fragment.rawLength || crc !== fragment.crc32) {
        throw bundleInvalid(
          `The text of ${name} has ${length} bytes with CRC-32 ${crc.toString(16)}, expected ${fragment.rawLength} with ${fragment.crc32.toString(16)}.`,
        );
      }
      // A final block in the middle would end the file there.
      if (inflater.bytesWritten !== fragment.byteLength || !last.equals(SYNC_FLUSH)) {
        throw bundleInvalid(`The body of ${name} does not end in a sync flush.`);
      }
    },
  };
}
