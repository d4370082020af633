import { PackhouseError } from '@packhouse/runtime';
import type { FragmentInfo } from './fragment.js';
import { memberFrame, SEPARATOR } from './member-frame.js';

/** A gzip file that is ready to be written. */
export interface Member {
  /** Its bytes, in order; the bodies among them are the ones given, not copies. */
  chunks: Buffer[];
  /** Bytes of the file. */
  byteLength: number;
  /** Bytes of its text. */
  rawLength: number;
  /** CRC-32 of its text, unsigned. */
  crc32: number;
}

/**
 * Makes one gzip file of a run of fragments and their bodies, without inflating or copying any of them.
 *
 * Throws BUNDLE_INVALID when the fragments do not follow each other or a body is not as long as its fragment says.
 */
export function spliceMember(fragments: readonly FragmentInfo[], bodies: readonly Buffer[]): Member {
  const { head, tail, byteLength, rawLength, crc32 } = memberFrame(fragments);
  if (bodies.length !== fragments.length) {
    throw new PackhouseError({
      code: 'BUNDLE_INVALID',
      message: `A bundle of ${fragments.length} fragments needs as many bodies, got ${bodies.length}.`,
    });
  }
  const chunks: Buffer[] = [head];
  for (const [index, fragment] of fragments.entries()) {
    const body = bodies[index] as Buffer;
    if (body.length !== fragment.byteLength) {
      throw new PackhouseError({
        code: 'BUNDLE_INVALID',
        message: `The body of fragment ${fragment.startBlock}-${fragment.endBlock} has ${body.length} bytes, expected ${fragment.byteLength}.`,
        data: { startBlock: fragment.startBlock, endBlock: fragment.endBlock },
      });
    }
    if (index > 0) chunks.push(SEPARATOR);
    chunks.push(body);
  }
  chunks.push(tail);
  return { chunks, byteLength, rawLength, crc32 };
}
