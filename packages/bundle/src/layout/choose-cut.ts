import { checkRun, type FragmentInfo } from './fragment.js';
import { memberSize, SEPARATOR_BYTES } from './member-frame.js';

/** The end of the next bundle. */
interface Cut {
  /** Number of leading fragments in it. */
  count: number;
  /** Whether it is final: more fragments would not change this cut. */
  full: boolean;
}

/**
 * Chooses how many leading fragments make the next bundle: as many as fit into `maxBytes` of gzip and `maxBlocks`
 * blocks, but at least one, however large.
 *
 * `full` is false if all the fragments fit and further ones might. Throws BUNDLE_INVALID when they do not follow
 * each other.
 */
export function chooseCut(fragments: readonly FragmentInfo[], maxBytes: number, maxBlocks: number): Cut {
  const first = fragments[0];
  if (first === undefined) return { count: 0, full: false };
  checkRun(fragments);
  let size = memberSize([]);
  let count = 0;
  for (const fragment of fragments) {
    const next = size + fragment.byteLength + (count === 0 ? 0 : SEPARATOR_BYTES);
    const blocks = fragment.lastBlock - first.firstBlock + 1;
    if (count > 0 && (next > maxBytes || blocks > maxBlocks)) return { count, full: true };
    size = next;
    count += 1;
    if (size >= maxBytes || blocks >= maxBlocks) return { count, full: true };
  }
  return { count, full: false };
}
