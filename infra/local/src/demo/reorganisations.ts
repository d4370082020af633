import { type Clock, systemClock } from '@packhouse/runtime';

/**
 * Blocks of a side branch, at most. With two slots in an epoch Anvil calls a block final that is four below its head, so
 * a branch never has a final block.
 */
const MAX_DEPTH = 3;

/** When the demo chain reorganises, and how deep: one block, then two, then three, then one again. */
interface Reorganisations {
  /**
   * What to mine now: `block` of the chain, `branch`: a block of a side branch, or `replace`: drop the branch and mine
   * the blocks of the chain in its place, and one more.
   */
  next(): 'block' | 'branch' | 'replace';
  /** A block of the branch was mined; its length so far. */
  grown(): number;
  /** The branch is gone: replaced, or with the node that had it. */
  dropped(): void;
}

/** Without `everyMs` there are none. The time counts from the end of the one before. */
export function createReorganisations(
  everyMs: number | undefined,
  clock: Pick<Clock, 'elapsed'> = systemClock,
): Reorganisations {
  let last = clock.elapsed();
  let depth = 1;
  let length = 0;
  return {
    next: () => {
      if (everyMs === undefined) return 'block';
      if (length === depth) return 'replace';
      return length > 0 || clock.elapsed() - last >= everyMs ? 'branch' : 'block';
    },
    grown: () => ++length,
    dropped: () => {
      if (length === 0) return;
      last = clock.elapsed();
      depth = (depth % MAX_DEPTH) + 1;
      length = 0;
    },
  };
}
