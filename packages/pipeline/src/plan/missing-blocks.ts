import {
  type BlockRange,
  firstEndingAt,
  type Kind,
  nextOutside,
  startOutside,
  subtractRanges,
} from '@packhouse/chain';
import type { Coverage, OpenBackfill } from '@packhouse/database';

/**
 * What may be fetched now and is neither there nor planned, of blocks that are wanted. It is looked up where it is asked
 * for: what is published and what is ordered may be very many ranges, and few of them have a turn.
 */
export interface MissingBlocks {
  /** The first of a kind within a range, up to the next that is not missing; null: there are none. */
  next(kind: Kind, within: BlockRange): BlockRange | null;
  /** Where those of a kind around a missing block begin, from the block `first` on. */
  getStart(kind: Kind, block: number, first: number): number;
  /** The last block that may be fetched of a wanted range. */
  getEnd(range: OpenBackfill): number;
}

interface Known {
  coverage: ReadonlyMap<Kind, Coverage>;
  /** Of what is quarantined, what is tried now. */
  due: ReadonlyMap<Kind, readonly BlockRange[]>;
  finalized: number;
  /** Blocks from here on wait. */
  unknownFrom: number;
}

/** `planned`: ascending and disjoint; what is added to it later is not missing any more. */
export function missingBlocks(
  { coverage, due, finalized, unknownFrom }: Known,
  planned: ReadonlyMap<Kind, readonly BlockRange[]>,
): MissingBlocks {
  const lists = new Map<Kind, (readonly BlockRange[])[]>();
  for (const [kind, { staged, published, quarantined }] of coverage) {
    const resting = subtractRanges(quarantined, due.get(kind) ?? []);
    lists.set(kind, [published, staged, resting, planned.get(kind) ?? []]);
  }
  const last = Math.min(finalized, unknownFrom - 1);
  return {
    next: (kind, { firstBlock, lastBlock }) => {
      const settled = lists.get(kind);
      // Of a kind that was not read nothing is known.
      return settled === undefined
        ? null
        : nextOutside(settled, { firstBlock, lastBlock: Math.min(lastBlock, last) });
    },
    getStart: (kind, block, first) => startOutside(lists.get(kind) ?? [], block, first),
    getEnd: ({ to }) => Math.min(to ?? Number.POSITIVE_INFINITY, last),
  };
}

/**
 * The lowest missing blocks beside staged ones, of which range and where they begin. A full staging area of which no
 * bundle can be cut needs them first: blocks staged after a hole wait for it, and the last blocks of a run wait for those
 * that fill their bundle. Otherwise it would stay full for ever.
 */
export function lowestBesideStaged(
  open: readonly OpenBackfill[],
  coverage: ReadonlyMap<Kind, Coverage>,
  missing: MissingBlocks,
): { range: OpenBackfill; start: number } | null {
  let lowest: { range: OpenBackfill; start: number } | null = null;
  const waiting = new Map(
    [...coverage].map(([kind, { staged, published }]) => [kind, subtractRanges(staged, published)]),
  );
  for (const range of open) {
    const lastBlock = missing.getEnd(range);
    for (const kind of range.kinds) {
      for (const block of getEdges(waiting.get(kind) ?? [], { firstBlock: range.from, lastBlock })) {
        if (missing.next(kind, { firstBlock: block, lastBlock: block }) === null) continue;
        const start = missing.getStart(kind, block, range.from);
        if (lowest === null || start < lowest.start) lowest = { range, start };
      }
    }
  }
  return lowest;
}

/** The blocks of a range before and after each of the runs, ascending and disjoint. */
function* getEdges(runs: readonly BlockRange[], { firstBlock, lastBlock }: BlockRange): Generator<number> {
  for (let at = firstEndingAt(runs, firstBlock - 1); at < runs.length; at++) {
    const run = runs[at] as BlockRange;
    if (run.firstBlock - 1 > lastBlock) return;
    if (run.firstBlock - 1 >= firstBlock) yield run.firstBlock - 1;
    if (run.lastBlock + 1 >= firstBlock && run.lastBlock + 1 <= lastBlock) yield run.lastBlock + 1;
  }
}
