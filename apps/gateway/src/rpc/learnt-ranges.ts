/** Widest ranges that the nodes of a network were seen to take; forgotten after a while, since nodes change. */
export interface LearntRanges {
  /** Blocks that a request may span now; Infinity while nothing is known. */
  widest(): number;
  /** A node refused `blocks`; it names its limit, or half as many are tried. */
  refused(blocks: number, named: number | null): void;
}

const FORGET_MS = 600_000;

/** Makes it; nothing is known yet. `now` gives milliseconds. */
export function createLearntRanges(now: () => number): LearntRanges {
  let known = { blocks: Number.POSITIVE_INFINITY, at: 0 };
  const widest = (): number => (now() - known.at < FORGET_MS ? known.blocks : Number.POSITIVE_INFINITY);
  return {
    widest,
    refused(blocks, named) {
      const next = named !== null && named < blocks ? named : Math.max(1, Math.floor(blocks / 2));
      // What was under way when a narrower limit was learnt says nothing new.
      known = { blocks: Math.min(next, widest()), at: now() };
    },
  };
}
