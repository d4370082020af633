import { createHash } from 'node:crypto';
import type { RangeCheck } from '@packhouse/bundle';
import { PackhouseError } from '@packhouse/runtime';
import type { FileRange } from '../http/file-headers.js';
import { FREE_BYTES, PIECE_BYTES, type TakeTurn } from '../http/paced-pieces.js';
import type { FileFacts } from './damaged-files.js';

/** What an object is to be. */
type StoredFacts = Pick<FileFacts, 'objectKey' | 'byteLength' | 'sha256'>;

/** The check of a whole file: its length and SHA-256. Throws OBJECT_MISMATCH. */
export function createWholeCheck(facts: StoredFacts): RangeCheck {
  const { byteLength, sha256 } = facts;
  const hash = createHash('sha256');
  let length = 0;
  return {
    read: { start: 0, end: byteLength - 1 },
    async push(bytes) {
      length += bytes.length;
      if (length > byteLength) throw objectMismatch(facts, `over ${byteLength} bytes`);
      hash.update(bytes);
    },
    finish() {
      if (length === byteLength && hash.digest('hex') === sha256) return;
      throw objectMismatch(facts, `${length} bytes`);
    },
  };
}

/** The check of a part of a file of which no more is known: that all of its bytes are there, and no others. Throws OBJECT_MISMATCH. */
export function createLengthCheck(facts: StoredFacts, read: FileRange): RangeCheck {
  const expected = read.end - read.start + 1;
  let length = 0;
  const wrong = (got: string): PackhouseError =>
    objectMismatch(facts, `${got} of bytes ${read.start}-${read.end}`);
  return {
    read,
    async push(bytes) {
      length += bytes.length;
      if (length > expected) throw wrong(`over ${expected} bytes`);
    },
    finish() {
      if (length < expected) throw wrong(`${length} bytes`);
    },
  };
}

/** Checks a file in memory, in turn with others. Throws OBJECT_MISMATCH. */
export async function checkWhole(bytes: Buffer, facts: StoredFacts, turn: TakeTurn): Promise<void> {
  const check = createWholeCheck(facts);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    if (bytes.length > FREE_BYTES) await turn(piece.length);
    await check.push(piece);
  }
  check.finish();
}

/** The error for an object with other bytes than its row says; `got` is their number. */
function objectMismatch({ objectKey, byteLength, sha256 }: StoredFacts, got: string): PackhouseError {
  return new PackhouseError({
    code: 'OBJECT_MISMATCH',
    message: `The object ${objectKey} differs from its row: ${got}, expected ${byteLength} bytes with SHA-256 ${sha256}.`,
    hint: 'Run `packhouse audit --repair` on this range; it publishes a bundle as its next version and has a data file written again.',
    data: { objectKey },
  });
}

/**
 * Checks the pieces of an object while they pass, and yields those of `range`. The last piece is held back until all of
 * the check agrees, so that wrong bytes never make a complete answer. Each is checked when its turn has come. Throws what
 * the check and the turn throw.
 */
export async function* checkedPieces(
  source: AsyncIterable<Buffer>,
  check: RangeCheck,
  range: FileRange,
  turn: TakeTurn,
): AsyncGenerator<Buffer, void, undefined> {
  let position = check.read.start;
  let last: Buffer | undefined;
  for await (const piece of source) {
    await turn(piece.length);
    await check.push(piece);
    const own = piece.subarray(Math.max(0, range.start - position), Math.max(0, range.end + 1 - position));
    position += piece.length;
    if (own.length === 0) continue;
    if (last !== undefined) yield last;
    last = own;
  }
  check.finish();
  if (last !== undefined) yield last;
}
