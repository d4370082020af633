import { PackhouseError } from '@packhouse/runtime';
import { checkRun } from './check-run.js';
import type { FragmentInfo } from './fragment.js';
import { MEMBER_HEAD_BYTES, SEPARATOR_BYTES } from './member-frame.js';

/** Where in a bundle's file some of its fragments are. */
export interface MemberSlice {
  /** Inclusive byte positions: the bodies with the separators between them, ready to stand in another frame. */
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
  const first = (fragments[0] as FragmentInfo).startBlock;
  const last = (fragments.at(-1) as FragmentInfo).endBlock;
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
    if (fragment.startBlock > end) break;
    if (fragment.endBlock >= start) {
      if (chosen.length === 0) from = position;
      chosen.push(fragment);
      to = position + fragment.byteLength - 1;
    }
    position += fragment.byteLength + SEPARATOR_BYTES;
  }
  return { range: { start: from, end: to }, fragments: chosen };
}
