import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database, Hole, HoleCounts, Standing } from '@packhouse/database';
import type { QueueReader } from '@packhouse/queue';
import { PackhouseError } from '@packhouse/runtime';
import { queueHints } from './coverage-hints.js';

export interface CoverageParts {
  database: { holes: Pick<Database['holes'], 'page' | 'count' | 'standing'> };
  /** Without it, or while it is away, `queued` and `fetching` read `waiting`, and `packing` reads `staged`. */
  queue?: Pick<QueueReader, 'look'> | undefined;
}

export interface CoverageRequest {
  network: string;
  /** Default: those that are wanted or published. */
  kinds?: readonly Kind[] | undefined;
  /** Default 0. */
  from?: number | undefined;
  /** Default: the head, or what is published beyond it; where no head is known, the last block wanted. */
  to?: number | undefined;
  /** The default of `to` goes no further. */
  maxBlock?: number | null | undefined;
  /** Holes of a kind on a page, at most. */
  limit: number;
  /** Where the page begins, as the one before said it by `next`; default: `from`. */
  start?: number | undefined;
}

/** One kind of a page; what is published and what is not partition the page's range. */
export interface KindCoverage {
  kind: Kind;
  /** Published from the network's first wanted block up to here without a hole. */
  completeTo: number | null;
  /** Blocks of the whole range asked for, not of this page; only the first page has them. */
  counts: Omit<HoleCounts, 'kind'> | null;
  published: BlockRange[];
  holes: Hole[];
}

/** What is published and what is not, with reasons. */
export interface CoveragePage {
  network: string;
  head: number | null;
  finalized: number | null;
  /** Everything from the network's first wanted block up to here is published in every wanted kind; null: nothing. */
  completeTo: number | null;
  /** What was asked for. */
  from: number;
  to: number;
  /** What this page tells everything about. */
  range: BlockRange;
  /** Where the next page begins; null: this is the last one. */
  next: number | null;
  /** Whether the queue answered. */
  queueSeen: boolean;
  kinds: KindCoverage[];
}

/**
 * Reads one page of a network's coverage. What it costs grows with the page, not with what is published. Throws
 * RANGE_INVALID where the range is reversed or the page begins outside of it.
 */
export async function coverage(parts: CoverageParts, request: CoverageRequest): Promise<CoveragePage> {
  const { network, limit } = request;
  const { holes } = parts.database;
  const [standing, hints] = await Promise.all([holes.standing(network), queueHints(parts.queue, network)]);
  const kinds = request.kinds ?? standing.kinds.map(({ kind }) => kind);
  const from = request.from ?? 0;
  const to = request.to ?? Math.max(from, lastOf(standing, kinds, request.maxBlock ?? null));
  const asked = { network, kinds, hints: hints ?? undefined };
  const start = request.start ?? from;
  if (to < from || start < from || start > to) {
    throw new PackhouseError({
      code: 'RANGE_INVALID',
      message: `Coverage of ${network} from block ${from} to ${to} cannot be read from block ${start} on.`,
      data: { network, from, to, start },
    });
  }
  const [page, counts] = await Promise.all([
    holes.page({ ...asked, range: { start, end: to }, limit }),
    // Counting costs what all holes cost, a page what it shows.
    request.start === undefined ? holes.count({ ...asked, range: { start: from, end: to } }) : null,
  ]);
  return {
    network,
    // As the page saw them, so that its reasons fit; a page of no kinds saw nothing.
    ...(kinds.length === 0
      ? { head: standing.head, finalized: standing.finalized }
      : { head: page.head, finalized: page.finalized }),
    completeTo: standing.completeTo,
    ...{ from, to, range: page.range, next: page.next, queueSeen: hints !== null },
    kinds: page.kinds.map(({ kind, published, holes: found }, at) => {
      const counted = counts?.[at];
      return {
        kind,
        completeTo: standing.kinds.find((each) => each.kind === kind)?.completeTo ?? null,
        counts: counted === undefined ? null : { published: counted.published, missing: counted.missing },
        published,
        holes: found,
      };
    }),
  };
}

/** The last block there is something to say about; -1 where there is none. */
function lastOf(standing: Standing, kinds: readonly Kind[], maxBlock: number | null): number {
  const newest = standing.kinds.filter(({ kind }) => kinds.includes(kind)).map((each) => each.newest ?? -1);
  const last = Math.max(standing.head ?? standing.lastWanted ?? -1, ...newest);
  return maxBlock === null ? last : Math.min(last, maxBlock);
}

/** Which hole a single block of a kind lies in; null where it is published by now. */
export async function holeAt(
  parts: CoverageParts,
  { network, kind, block }: { network: string; kind: Kind; block: number },
): Promise<{ head: number | null; hole: Hole | null }> {
  const hints = await queueHints(parts.queue, network);
  const page = await parts.database.holes.page({
    ...{ network, kinds: [kind], range: { start: block, end: block }, limit: 1 },
    hints: hints ?? undefined,
  });
  return { head: page.head, hole: page.kinds[0]?.holes[0] ?? null };
}
