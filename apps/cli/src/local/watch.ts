import type { BlockRange, Kind } from '@packhouse/chain';
import type { BundleRow, Database, NetworkDatabase, QuarantineRow } from '@packhouse/database';
import { type NetworkStatus, networkStatus, subtractRanges, unionRanges } from '@packhouse/pipeline';
import type { Clock } from '@packhouse/runtime';
import { type CliIo, drained } from '../terminal/io.js';

export interface Look {
  status: NetworkStatus;
  /** Bundles published since the last look. */
  published: BundleRow[];
  /** Blocks quarantined, for the first time or again, since the last look. */
  quarantined: QuarantineRow[];
}

/** Time between two looks at the state, in milliseconds. */
const LOOK_EVERY_MS = 1_000;
/** Rows read at a time. */
const PAGE = 500;

/** Finds new rows in Postgres since the last look; the first look finds none. */
export function createWatch(database: Database, network: string): { look(): Promise<Look> } {
  const handle = database.network(network);
  const seen = new Map<Kind, BlockRange[]>();
  let counted = new Map<Kind, string>();
  const named = new Map<number, number>();
  let first = true;
  return {
    async look() {
      const status = await networkStatus(database, network);
      const published: BundleRow[] = [];
      const seenNow = new Map<Kind, BlockRange[]>();
      const countedNow = new Map(
        status.kinds.map(({ kind, bundles, bytes, newestAt }) => [
          kind,
          `${bundles} ${bytes} ${newestAt?.getTime()}`,
        ]),
      );
      // Whoever publishes adds to these in the same transaction.
      const changed = [...countedNow].filter(([kind, counts]) => counted.get(kind) !== counts);
      const coverages = await handle.coverages(changed.map(([kind]) => kind));
      for (const [kind, { published: now }] of coverages) {
        const fresh = subtractRanges(now, seen.get(kind) ?? []);
        if (!first) for (const range of fresh) published.push(...(await bundlesWithin(handle, kind, range)));
        seenNow.set(kind, unionRanges(now));
      }
      const rows = await handle.quarantine.list();
      const quarantined = rows.filter((row) => named.get(row.number) !== row.attempts);
      for (const row of rows) named.set(row.number, row.attempts);
      // Noted at the end: after a look that failed half way, the next one reports all of it.
      for (const [kind, ranges] of seenNow) seen.set(kind, ranges);
      counted = countedNow;
      first = false;
      return { status, published, quarantined };
    },
  };
}

/** Waits for the time of the next look, and for a reader of the output that is behind; ends early at the signal. */
export async function untilNextLook(io: CliIo, clock: Pick<Clock, 'sleep'>): Promise<void> {
  await clock.sleep(LOOK_EVERY_MS, io.signal).catch(() => undefined);
  await drained(io).catch(() => undefined);
}

async function bundlesWithin(database: NetworkDatabase, kind: Kind, range: BlockRange): Promise<BundleRow[]> {
  const rows: BundleRow[] = [];
  for (let from = range.start; from <= range.end; ) {
    const page = await database.bundles.list(kind, from, PAGE);
    const inside = page.filter((row) => row.start <= range.end);
    rows.push(...inside);
    if (inside.length < PAGE) break;
    from = (inside.at(-1) as BundleRow).end + 1;
  }
  return rows;
}
