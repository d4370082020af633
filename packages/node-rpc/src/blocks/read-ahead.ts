/** How many blocks ranges fetch ahead of their readers: what was fetched and not read is asked again after a kill. */
export interface ReadAhead {
  readonly blocks: number;
  /** The reader waits for a block, and as many are under way as may be. */
  starved(): void;
  /** The reader took a block, and so many wait for it. */
  taken(ready: number): void;
}

const MIN_BLOCKS = 32;
const MAX_BLOCKS = 4_096;
/** Each step costs the time of an answer. A reader that starves leaves little that a kill would have asked again. */
const GROWTH = 4;
/** If more than this part of what is ahead waits for its reader, fewer would do. */
const READY_SHARE = 0.75;

/** Starts low, grows each time a reader starves, and shrinks while most of what is ahead waits for its reader. */
export function createReadAhead(): ReadAhead {
  let blocks = MIN_BLOCKS;
  return {
    get blocks() {
      return blocks;
    },
    starved: () => {
      blocks = Math.min(MAX_BLOCKS, blocks * GROWTH);
    },
    taken: (ready) => {
      if (ready > blocks * READY_SHARE) blocks = Math.max(MIN_BLOCKS, blocks - 1);
    },
  };
}
