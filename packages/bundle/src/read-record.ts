import { PackhouseError } from '@packhouse/runtime';
import type { FragmentInfo } from './fragment.js';
import { readFragment } from './read-fragment.js';

/**
 * The record text of one block out of the fragment that holds it, without the rest of its bundle.
 *
 * Throws RANGE_INVALID when the fragment does not hold the block, BUNDLE_INVALID when the bytes are not the fragment's.
 */
export async function readRecord(options: {
  fragment: FragmentInfo;
  body: Buffer;
  block: number;
}): Promise<Buffer> {
  const { fragment, block } = options;
  if (!(block >= fragment.startBlock && block <= fragment.endBlock)) {
    throw new PackhouseError({
      code: 'RANGE_INVALID',
      message: `Block ${block} is not in fragment ${fragment.startBlock}-${fragment.endBlock}.`,
      data: { block },
    });
  }
  const records = await readFragment(options);
  return records[block - fragment.startBlock] as Buffer;
}
