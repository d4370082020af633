import type { BlockRange, Kind } from '@packhouse/chain';
import type { Hole, HoleCounts, NetworkDatabase, Standing } from '@packhouse/database';
import type { QueueReader } from '@packhouse/queue';
import { PackhouseError } from '@packhouse/runtime';
import { getNeeds } from './hole-reasons.js';
import { queueHints } from './queue-hints.js';

export interface CoverageParts {
  database: {
    network(id: string): {
      holes: Pick<NetworkDatabase['holes'], 'page' | 'count' | 'isScattered' | 'standing'>;
    };
  };
  /** Without it, or while it is unavailable, `queued` and `fetching` read `waiting`, and `packing` reads `staged`. */
  queue?: Pick<QueueReader, 'peek'> | undefined;
}

export interface CoverageRequest {
  network: string;
  /** Default: all that are wanted or published. */
  kinds?: readonly Kind[] | undefined;
  /** Default 0. */
  from?: number | undefined;
  /** Default: the head, or the last block published beyond it; if no head is known, the last block wanted. */
  to?: number | undefined;
  /** The default of `to` goes no further. */
  maxBlock?: number | null | undefined;
  /** Holes of a kind on a page, at most. */
  limit: number;
  /** First block of the page: the `next` of the page before; default: `from`. */
  start?: number | undefined;
}

/** One kind of a page; published ranges and holes partition the page's range. */
interface KindCoverage {
  kind: Kind;
  /** Published from the network's first wanted block up to here without a hole. */
  completeThrough: number | null;
  /** Blocks of the whole range asked for, not of this page. Not of later pages, nor of very many separate ranges. */
  counts: Omit<HoleCounts, 'kind'> | null;
  published: BlockRange[];
  holes: Hole[];
}

/** Published ranges, and holes with reasons. */
export interface CoveragePage {
  network: string;
  head: number | null;
  finalized: number | null;
  /** Everything from the network's first wanted block up to here is published in every wanted kind; null: nothing. */
  completeThrough: number | null;
  /** The requested range. */
  from: number;
  to: number;
  /** The range of this page. */
  range: BlockRange;
  /** First block of the next page; null: this is the last one. */
  next: number | null;
  /** Whether the queue answered. */
  queueSeen: boolean;
  kinds: KindCoverage[];
}

/** Separate ranges that were ordered, of all kinds together, beyond which blocks are not counted. */
const MAX_COUNTED = 10_000;

/**
 * Reads one page of a network's coverage. Its cost grows with the page, not with what is published. Throws
 * RANGE_INVALID if the range is reversed or the page begins outside of it.
 */
export async function coverage(parts: CoverageParts, request: CoverageRequest): Promise<CoveragePage> {
  const { network, limit } = request;
  const { holes } = parts.database.network(network);
  const [standing, hints] = await Promise.all([holes.standing(), queueHints(parts.queue, network)]);
  const kinds = request.kinds ?? standing.kinds.map(({ kind }) => kind);
  const from = request.from ?? 0;
  const to = request.to ?? Math.max(from, getLastBlock(standing, kinds, request.maxBlock ?? null));
  const asked = { kinds, hints: hints ?? undefined };
  const firstBlock = request.start ?? from;
  if (to < from || firstBlock < from || firstBlock > to) {
    throw new PackhouseError({
      code: 'RANGE_INVALID',
      message: `Coverage of ${network} from block ${from} to ${to} cannot be read from block ${firstBlock} on.`,
      data: { network, from, to, start: firstBlock },
    });
  }
  const count = async (): Promise<HoleCounts[] | null> => {
    const range = { firstBlock: from, lastBlock: to };
    // The cost of counting grows with all holes, the cost of a page with its own.
    if (request.start !== undefined || (await holes.isScattered({ kinds, range, limit: MAX_COUNTED })))
      return null;
    return holes.count({ ...asked, range });
  };
  const [page, counts] = await Promise.all([
    holes.page({ ...asked, range: { firstBlock, lastBlock: to }, limit }),
    count(),
  ]);
  return {
    network,
    // As read for the page, so that its reasons fit; a page of no kinds reads nothing.
    ...(kinds.length === 0
      ? { head: standing.head, finalized: standing.finalized }
      : { head: page.head, finalized: page.finalized }),
    completeThrough: standing.completeThrough,
    from,
    to,
    range: page.range,
    next: page.next,
    queueSeen: hints !== null,
    kinds: page.kinds.map(({ kind, published, holes: found }, at) => {
      const counted = counts?.[at];
      return {
        kind,
        completeThrough: standing.kinds.find((each) => each.kind === kind)?.completeThrough ?? null,
        counts: counted === undefined ? null : { published: counted.published, missing: counted.missing },
        published,
        holes: found,
      };
    }),
  };
}

/** The last block that is known; -1 if there is none. */
export function getLastBlock(standing: Standing, kinds: readonly Kind[], maxBlock: number | null): number {
  const newest = standing.kinds.filter(({ kind }) => kinds.includes(kind)).map((each) => each.newest ?? -1);
  const last = Math.max(standing.head ?? standing.lastRequested ?? -1, ...newest);
  return maxBlock === null ? last : Math.min(last, maxBlock);
}

/** The hole of a kind that a block is in, as far as `lastBlock` (default: that block alone); null if it is published by now. */
export async function holeAt(
  parts: CoverageParts,
  {
    network,
    kind,
    block,
    lastBlock = block,
  }: { network: string; kind: Kind; block: number; lastBlock?: number },
): Promise<{ head: number | null; hole: Hole | null }> {
  const hints = await queueHints(parts.queue, network);
  const page = await parts.database.network(network).holes.page({
    kinds: [kind],
    range: { firstBlock: block, lastBlock },
    limit: 1,
    hints: hints ?? undefined,
  });
  const hole = page.kinds[0]?.holes[0];
  return { head: page.head, hole: hole?.firstBlock === block ? hole : null };
}

/** What a hole needs by cause of quarantine, where the cause is no single block's. */
const CAUSE_NEEDS: Readonly<Record<string, string>> = {
  FORK_UNKNOWN: 'its fork is new to this version, which has to be updated',
  NODE_METHOD_MISSING: 'no upstream offers a method for it: it comes by itself once one does',
};

/** The need of a hole, with cause and next try if it is quarantined. */
export function holeNeeds({ reason, quarantine }: Pick<Hole, 'reason' | 'quarantine'>): string {
  if (quarantine === null) return getNeeds(reason);
  const { cause, attempts, nextTry } = quarantine;
  const known = CAUSE_NEEDS[cause];
  if (known !== undefined) return `${known}; the next try is due at ${nextTry.toISOString()}`;
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  return `it failed ${times} with ${cause}, and the next try is due at ${nextTry.toISOString()}`;
}
