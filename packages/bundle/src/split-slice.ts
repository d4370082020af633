import { PackhouseError } from '@packhouse/runtime';
import type { FragmentInfo } from './fragment.js';
import { SEPARATOR, SEPARATOR_BYTES } from './member-frame.js';

/**
 * Cuts the bytes that `sliceOfMember` named into the bodies of its fragments, without copying.
 *
 * Throws BUNDLE_INVALID when the bytes are not as long as they should be or a separator is not where it should be.
 */
export function splitSlice(fragments: readonly FragmentInfo[], bytes: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  let position = 0;
  for (const fragment of fragments) {
    if (position > 0) {
      if (!bytes.subarray(position, position + SEPARATOR_BYTES).equals(SEPARATOR)) {
        throw new PackhouseError({
          code: 'BUNDLE_INVALID',
          message: `There is no separator before fragment ${fragment.startBlock}-${fragment.endBlock}, at byte ${position} of the slice.`,
          hint: 'The fragment table belongs to another file, or the file was changed.',
        });
      }
      position += SEPARATOR_BYTES;
    }
    bodies.push(bytes.subarray(position, position + fragment.byteLength));
    position += fragment.byteLength;
  }
  if (position !== bytes.length) {
    throw new PackhouseError({
      code: 'BUNDLE_INVALID',
      message: `A slice of ${fragments.length} fragments has ${bytes.length} bytes, expected ${position}.`,
    });
  }
  return bodies;
}
