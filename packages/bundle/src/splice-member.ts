import { PackhouseError } from '@packhouse/runtime';
import { deflatePiece } from './deflate/deflate-piece.js';
import { checkRun, type FragmentInfo, mismatch, toFragment, toName } from './layout/fragment.js';
import { MEMBER_HEAD_BYTES, memberFrame, SEPARATOR, SEPARATOR_BYTES } from './layout/member-frame.js';

/** A gzip file that is ready to be written. */
export interface Member {
  /** Its bytes, in order; the bodies are the given buffers, not copies. */
  chunks: Buffer[];
  /** Bytes of the file. */
  byteLength: number;
  /** Bytes of its text. */
  rawLength: number;
  /** CRC-32 of its text, unsigned. */
  crc32: number;
}

/**
 * Makes one gzip file of a run of fragments and their bodies, without inflating or copying them.
 *
 * Throws BUNDLE_INVALID when the fragments do not follow each other or a body is not as long as its fragment says.
 */
export function spliceMember(fragments: readonly FragmentInfo[], bodies: readonly Buffer[]): Member {
  const { head, tail, byteLength, rawLength, crc32 } = memberFrame(fragments);
  if (bodies.length !== fragments.length) {
    throw mismatch(`A bundle of ${fragments.length} fragments needs as many bodies, got ${bodies.length}.`);
  }
  const chunks: Buffer[] = [head];
  for (const [index, fragment] of fragments.entries()) {
    const body = bodies[index] as Buffer;
    if (body.length !== fragment.byteLength) {
      const { firstBlock, lastBlock, byteLength } = fragment;
      throw mismatch(`The body of ${toName(fragment)} has ${body.length} bytes, expected ${byteLength}.`, {
        data: { firstBlock, lastBlock },
      });
    }
    if (index > 0) chunks.push(SEPARATOR);
    chunks.push(body);
  }
  chunks.push(tail);
  return { chunks, byteLength, rawLength, crc32 };
}

/** A gzip file whose bodies are not there yet. */
interface OpenMember {
  bytes: Buffer<ArrayBuffer>;
  /** The place of each body in it. */
  places: Buffer[];
  /** Bytes of its text. */
  rawLength: number;
}

/**
 * Makes the file of a run of fragments but for their bodies, in memory from `allocate`. Throws BUNDLE_INVALID as
 * `spliceMember`.
 */
export function openMember(
  fragments: readonly FragmentInfo[],
  allocate: (bytes: number) => Buffer<ArrayBuffer> = Buffer.allocUnsafe,
): OpenMember {
  const { head, tail, byteLength, rawLength } = memberFrame(fragments);
  const bytes = allocate(byteLength);
  const places: Buffer[] = [];
  let at = head.copy(bytes);
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) at += SEPARATOR.copy(bytes, at);
    places.push(bytes.subarray(at, at + fragment.byteLength));
    at += fragment.byteLength;
  }
  tail.copy(bytes, at);
  return { bytes, places, rawLength };
}

/** The file of one block (`n-n.json.gz`) from its record text, for a block that shares its fragment with others. */
export async function memberOfRecord(text: Buffer): Promise<Member> {
  const piece = await deflatePiece(text);
  return spliceMember([toFragment({ firstBlock: 0, lastBlock: 0 }, piece)], [piece.body]);
}

/** The position of some fragments in the file of their bundle. */
interface MemberSlice {
  /** Inclusive byte positions: the bodies with the separators between them, ready for another frame. */
  range: { start: number; end: number };
  fragments: FragmentInfo[];
}

/**
 * The bytes of a bundle with this fragment table that hold the blocks `start` to `end` (inclusive), in whole fragments.
 *
 * Throws RANGE_INVALID when the bundle does not hold all of these blocks, BUNDLE_INVALID when the table has gaps.
 */
export function sliceOfMember(fragments: readonly FragmentInfo[], start: number, end: number): MemberSlice {
  checkRun(fragments);
  const first = (fragments[0] as FragmentInfo).firstBlock;
  const last = (fragments.at(-1) as FragmentInfo).lastBlock;
  if (!(start <= end && start >= first && end <= last)) {
    throw new PackhouseError({
      code: 'RANGE_INVALID',
      message: `Blocks ${start}-${end} cannot be cut out of a bundle that holds ${first}-${last}.`,
      data: { start, end, first, last },
    });
  }
  const chosen: FragmentInfo[] = [];
  let position = MEMBER_HEAD_BYTES;
  let from = position;
  let to = position;
  for (const fragment of fragments) {
    if (fragment.firstBlock > end) break;
    if (fragment.lastBlock >= start) {
      if (chosen.length === 0) from = position;
      chosen.push(fragment);
      to = position + fragment.byteLength - 1;
    }
    position += fragment.byteLength + SEPARATOR_BYTES;
  }
  return { range: { start: from, end: to }, fragments: chosen };
}

/**
 * Cuts the bytes that `sliceOfMember` named into the bodies of its fragments, without copying.
 *
 * Throws BUNDLE_INVALID if the bytes have the wrong length or a separator is misplaced.
 */
export function splitSlice(fragments: readonly FragmentInfo[], bytes: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  let position = 0;
  for (const fragment of fragments) {
    if (position > 0) {
      if (!bytes.subarray(position, position + SEPARATOR_BYTES).equals(SEPARATOR)) {
        throw mismatch(
          `There is no separator before ${toName(fragment)}, at byte ${position} of the slice.`,
          { hint: 'The fragment table belongs to another file, or the file was changed.' },
        );
      }
      position += SEPARATOR_BYTES;
    }
    bodies.push(bytes.subarray(position, position + fragment.byteLength));
    position += fragment.byteLength;
  }
  if (position !== bytes.length) {
    throw mismatch(
      `A slice of ${fragments.length} fragments has ${bytes.length} bytes, expected ${position}.`,
    );
  }
  return bodies;
}
