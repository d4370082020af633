import type { Kind } from '@packhouse/chain';
import type { Columns, HoleReason, NetworkDatabase } from '@packhouse/database';
import type { QueueReader } from '@packhouse/queue';
import { PackhouseError } from '@packhouse/runtime';
import { getLastBlock } from './coverage.js';
import { WORST_FIRST } from './hole-reasons.js';
import { queueHints } from './queue-hints.js';

interface MapParts {
  database: { network(id: string): { holes: Pick<NetworkDatabase['holes'], 'columns' | 'standing'> } };
  /** As of CoverageParts. */
  queue?: Pick<QueueReader, 'peek'> | undefined;
}

interface MapRequest {
  network: string;
  /** Default: all that are wanted or published. */
  kinds?: readonly Kind[] | undefined;
  /** Default: the first wanted block. */
  from?: number | undefined;
  /** Default: as of CoverageRequest. */
  to?: number | undefined;
  /** Columns of a kind, at most. */
  columns: number;
}

/** Coverage as a picture shows it: a row for each kind, each a line of columns of `width` blocks. */
export interface CoverageMap {
  network: string;
  head: number | null;
  finalized: number | null;
  completeThrough: number | null;
  /** The whole of the map: from the first wanted block to the last that is known; null: nothing is wanted yet. */
  whole: { from: number; to: number } | null;
  /** The requested range. */
  from: number;
  to: number;
  /** Blocks of a column, a power of two: columns begin at its multiples, the first and last are cut at the range. */
  width: number;
  /** Whether the queue answered. */
  queueSeen: boolean;
  /** Reasons of holes, the worst first: `a` in `worst` is the first one. */
  reasons: readonly HoleReason[];
  kinds: {
    kind: Kind;
    /** A character a column: a dot where everything is published, else the letter of the worst reason of a hole. */
    worst: string;
    /** Of each column, how many blocks are not published. */
    missing: number[];
  }[];
}

/** Reads a map of a network's coverage. Throws RANGE_INVALID if the range is reversed. */
export async function coverageMap({ database, queue }: MapParts, request: MapRequest): Promise<CoverageMap> {
  const { network, columns } = request;
  const { holes } = database.network(network);
  const [standing, hints] = await Promise.all([holes.standing(), queueHints(queue, network)]);
  const kinds = request.kinds ?? standing.kinds.map(({ kind }) => kind);
  const start = standing.firstRequested ?? 0;
  const end = Math.max(start, getLastBlock(standing, kinds, null));
  const from = request.from ?? Math.min(start, request.to ?? start);
  const to = request.to ?? Math.max(end, from);
  if (to < from) {
    throw new PackhouseError({
      code: 'RANGE_INVALID',
      message: `Coverage of ${network} from block ${from} to ${to} cannot be read: the range is reversed.`,
      data: { network, from, to },
    });
  }
  const found = await holes.columns({
    kinds,
    range: { firstBlock: from, lastBlock: to },
    columns,
    hints: hints ?? undefined,
  });
  const { head, finalized, completeThrough } = standing;
  return {
    network,
    head,
    finalized,
    completeThrough,
    whole: standing.kinds.length === 0 ? null : { from: start, to: end },
    from,
    to,
    width: found.width,
    queueSeen: hints !== null,
    reasons: WORST_FIRST,
    kinds: found.kinds.map(({ kind, columns: all }) => ({
      kind,
      worst: all.map(getWorstReason).join(''),
      missing: all.map(({ missing }) => missing),
    })),
  };
}

function getWorstReason({ reasons }: Columns['kinds'][number]['columns'][number]): string {
  const at = WORST_FIRST.findIndex((reason) => reasons.includes(reason));
  return at === -1 ? '.' : String.fromCharCode('a'.charCodeAt(0) + at);
}
