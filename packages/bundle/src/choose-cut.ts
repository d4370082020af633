import { checkRun, type FragmentInfo } from './fragment.js';
import { memberSize, SEPARATOR_BYTES } from './member-frame.js';

/** The end of the next bundle. */
interface Cut {
  /** How many of the leading fragments go into it. */
  count: number;
  /** Whether nothing more may be added: more fragments would not change this cut. */
  full: boolean;
}

/**
 * Says how many of the leading fragments make the next bundle: as many as stay within `maxBytes` of gzip and
 * `maxBlocks` blocks, but at least one, however large.
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
    const blocks = fragment.endBlock - first.startBlock + 1;
    if (count > 0 && (next > maxBytes || blocks > maxBlocks)) return { count, full: true };
    size = next;
    count += 1;
    if (size >= maxBytes || blocks >= maxBlocks) return { count, full: true };
  }
  return { count, full: false };
}
