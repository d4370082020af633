import type { BlockRange } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

/** Size of raw text at which a fragment is closed, in bytes. */
export const FRAGMENT_BYTES = 131_072;

/** Consecutive blocks that become one fragment. */
export interface Group extends BlockRange {
  /** Bytes of the record texts with the commas between them. */
  rawLength: number;
}

/** Decides, record by record, which blocks share a fragment. */
interface Grouper {
  /**
   * Takes the size of the next block's record in bytes, and returns the groups that it closed, in order: none, one, or
   * two if a single record also ends the group before it. Throws RANGE_INVALID for a block that does not come after
   * the one before.
   */
  push(block: number, rawBytes: number): Group[];
  /** Closes the open group, if any: at the end of the records, or at a border that no fragment may cross. */
  flush(): Group | null;
}

/**
 * Creates a grouper for one kind.
 *
 * A group is closed when its text reaches `limit` bytes. A record of that size is always alone, so that it can be made
 * and kept without its neighbours. A gap in the block numbers also closes the group before it.
 */
export function createGrouper(limit = FRAGMENT_BYTES): Grouper {
  let open: Group | null = null;
  let last = -1;
  const flush = (): Group | null => {
    const closed = open;
    open = null;
    return closed;
  };
  return {
    flush,
    push: (block, rawBytes) => {
      if (!Number.isSafeInteger(block) || block <= last) {
        throw new PackhouseError({
          code: 'RANGE_INVALID',
          message: `Records are grouped in ascending order of their blocks: block ${block} came after block ${last}.`,
          data: { block, last },
        });
      }
      const closed: Group[] = [];
      if (open !== null && (rawBytes >= limit || block !== last + 1)) {
        closed.push(open);
        open = null;
      }
      last = block;
      if (open === null) open = { firstBlock: block, lastBlock: block, rawLength: rawBytes };
      else open = { firstBlock: open.firstBlock, lastBlock: block, rawLength: open.rawLength + 1 + rawBytes };
      if (open.rawLength >= limit) {
        closed.push(open);
        open = null;
      }
      return closed;
    },
  };
}
