import { PackhouseError } from '@packhouse/runtime';
import type { FragmentInfo } from './fragment.js';

/** Throws BUNDLE_INVALID unless the fragments are at least one, and follow each other without gap or overlap. */
export function checkRun(fragments: readonly FragmentInfo[]): void {
  if (fragments.length === 0) {
    throw new PackhouseError({
      code: 'BUNDLE_INVALID',
      message: 'A bundle needs at least one fragment, got none.',
    });
  }
  let expected = (fragments[0] as FragmentInfo).startBlock;
  for (const { startBlock, endBlock } of fragments) {
    if (startBlock !== expected || endBlock < startBlock) {
      throw new PackhouseError({
        code: 'BUNDLE_INVALID',
        message: `The fragments of a bundle follow each other: expected one that starts at block ${expected}, got ${startBlock}-${endBlock}.`,
        data: { expected, startBlock, endBlock },
      });
    }
    expected = endBlock + 1;
  }
}
