import type { BlockRange, Kind } from '@packhouse/chain';
import type { BundleRow, Database, QuarantineRow } from '@packhouse/database';
import {
  intersectRanges,
  type NetworkStatus,
  networkStatus,
  subtractRanges,
  unionRanges,
} from '@packhouse/pipeline';

export interface Look {
  status: NetworkStatus;
  /** Bundles published since the last look. */
  published: BundleRow[];
  /** Blocks quarantined, or once more so, since the last look. */
  quarantined: QuarantineRow[];
}

/** Rows read at a time. */
const PAGE = 500;

/** Sees what is new in Postgres, one look after another; what was there before the first look is not new. */
export function createWatch(database: Database, network: string): { look(): Promise<Look> } {
  const seen = new Map<Kind, BlockRange[]>();
  const named = new Map<number, number>();
  let first = true;
  return {
    async look() {
      const status = await networkStatus(database, network);
      const published: BundleRow[] = [];
      const seenNow = new Map<Kind, BlockRange[]>();
      for (const { kind } of status.kinds) {
        const now = (await database.network(network).coverage(kind)).published;
        const fresh = subtractRanges(now, seen.get(kind) ?? []);
        if (!first)
          for (const range of fresh) published.push(...(await bundlesWithin(database, network, kind, range)));
        seenNow.set(kind, unionRanges(now));
      }
      const rows = await database.network(network).quarantine.list();
      const quarantined = rows.filter((row) => named.get(row.number) !== row.attempts);
      for (const row of rows) named.set(row.number, row.attempts);
      // Only what will be reported is seen: a look that fails half way reports all of it the next time.
      for (const [kind, ranges] of seenNow) seen.set(kind, ranges);
      first = false;
      return { status, published, quarantined };
    },
  };
}

async function bundlesWithin(
  database: Database,
  network: string,
  kind: Kind,
  range: BlockRange,
): Promise<BundleRow[]> {
  const rows: BundleRow[] = [];
  for (let from = range.start; from <= range.end; ) {
    const page = await database.network(network).bundles.list(kind, from, PAGE);
    const inside = page.filter((row) => row.start <= range.end);
    rows.push(...inside);
    if (inside.length < PAGE) break;
    from = (inside.at(-1) as BundleRow).end + 1;
  }
  return rows;
}

/**
 * Whether everything within the range is published or quarantined, of every kind. A quarantined block whose next try
 * is due (at `now`, milliseconds since the epoch) is about to be asked for again, so it is not settled.
 */
export async function isSettled(
  database: Database,
  network: string,
  kinds: readonly Kind[],
  range: BlockRange,
  now: number,
): Promise<{ settled: boolean; quarantined: BlockRange[] }> {
  const holes: BlockRange[] = [];
  const rows = await database.network(network).quarantine.list();
  const due = rows
    .filter((row) => row.nextTry.getTime() <= now)
    .map(({ number, end }) => ({ start: number, end }));
  let settled = true;
  for (const kind of kinds) {
    const { published, quarantined } = await database.network(network).coverage(kind, range);
    const open = subtractRanges([range], unionRanges(published));
    const resting = subtractRanges(unionRanges(quarantined), unionRanges(due));
    holes.push(...intersectRanges(open, resting));
    if (subtractRanges(open, resting).length > 0) settled = false;
  }
  return { settled, quarantined: unionRanges(holes) };
}
