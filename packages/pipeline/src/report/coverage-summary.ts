import type { BlockRange } from '@packhouse/chain';
import type { HoleCounts, Standing } from '@packhouse/database';
import type { CoverageParts } from './coverage.js';
import { queueHints } from './coverage-hints.js';

/** How far a network is, and what keeps the rest, in blocks. */
export interface CoverageSummary extends Omit<Standing, 'kinds'> {
  network: string;
  /** From the first block wanted to the head, which is what is counted; null where nothing is wanted up to there. */
  range: BlockRange | null;
  /** Whether the queue answered: without it `queued` and `fetching` count as `waiting`, `packing` as `staged`. */
  queueSeen: boolean;
  kinds: (HoleCounts & { completeTo: number | null; wanted: boolean })[];
}

/** Sums up the coverage of a network, a few numbers a kind however many holes there are. */
export async function coverageSummary(parts: CoverageParts, network: string): Promise<CoverageSummary> {
  const { holes } = parts.database;
  const [{ kinds, ...standing }, hints] = await Promise.all([
    holes.standing(network),
    queueHints(parts.queue, network),
  ]);
  const end = standing.head ?? standing.lastWanted ?? -1;
  const start = standing.firstWanted ?? 0;
  const range = standing.firstWanted === null || end < start ? null : { start, end };
  const counts =
    range === null
      ? []
      : await holes.count({
          ...{ network, kinds: kinds.map(({ kind }) => kind), range },
          hints: hints ?? undefined,
        });
  return {
    ...{ network, ...standing, range, queueSeen: hints !== null },
    kinds: kinds.map(({ kind, completeTo, wanted }, at) => ({
      ...(counts[at] ?? { kind, published: 0, missing: {} }),
      ...{ completeTo, wanted },
    })),
  };
}
