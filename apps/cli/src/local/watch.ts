import { type BlockRange, type Kind, subtractRanges, unionRanges } from '@packhouse/chain';
import type { BundleRow, Database, NetworkDatabase, QuarantineRow } from '@packhouse/database';
import { type NetworkStatus, networkStatus } from '@packhouse/report';
import type { Clock } from '@packhouse/runtime';
import { type CliIo, drained } from '../terminal/io.js';

export interface Poll {
  status: NetworkStatus;
  /** Bundles published since the last poll. */
  published: BundleRow[];
  /** Blocks quarantined, for the first time or again, since the last poll. */
  quarantined: QuarantineRow[];
}

/** Time between two polls of the state, in milliseconds. */
const POLL_EVERY_MS = 1_000;
/** Rows read at a time. */
const PAGE = 500;

/** Finds new rows in Postgres since the last poll; the first poll finds none. */
export function createWatch(database: Database, network: string): { poll(): Promise<Poll> } {
  const handle = database.network(network);
  const seen = new Map<Kind, BlockRange[]>();
  let counted = new Map<Kind, string>();
  const named = new Map<number, number>();
  let first = true;
  return {
    async poll() {
      const status = await networkStatus(database, network);
      const published: BundleRow[] = [];
      const seenNow = new Map<Kind, BlockRange[]>();
      const countedNow = new Map(
        status.kinds.map(({ kind, bundles, bytes, newestAt }) => [
          kind,
          `${bundles} ${bytes} ${newestAt?.getTime()}`,
        ]),
      );
      // Publishing adds to these in the same transaction.
      const changed = [...countedNow].filter(([kind, counts]) => counted.get(kind) !== counts);
      const coverages = await handle.coverages(changed.map(([kind]) => kind));
      for (const [kind, { published: now }] of coverages) {
        const fresh = subtractRanges(now, seen.get(kind) ?? []);
        if (!first) for (const range of fresh) published.push(...(await bundlesWithin(handle, kind, range)));
        seenNow.set(kind, unionRanges(now));
      }
      const rows = await handle.quarantine.list();
      const quarantined = rows.filter((row) => named.get(row.firstBlock) !== row.attempts);
      for (const row of rows) named.set(row.firstBlock, row.attempts);
      // Noted at the end: after a poll that failed half way, the next one reports all of it.
      for (const [kind, ranges] of seenNow) seen.set(kind, ranges);
      counted = countedNow;
      first = false;
      return { status, published, quarantined };
    },
  };
}

/** Waits for the time of the next poll, and for a reader of the output that is behind; ends early at the signal. */
export async function untilNextPoll(io: CliIo, clock: Pick<Clock, 'sleep'>): Promise<void> {
  await clock.sleep(POLL_EVERY_MS, io.signal).catch(() => undefined);
  await drained(io).catch(() => undefined);
}

async function bundlesWithin(database: NetworkDatabase, kind: Kind, range: BlockRange): Promise<BundleRow[]> {
  const rows: BundleRow[] = [];
  for (let from = range.firstBlock; from <= range.lastBlock; ) {
    const page = await database.bundles.list(kind, from, PAGE);
    const inside = page.filter((row) => row.firstBlock <= range.lastBlock);
    rows.push(...inside);
    if (inside.length < PAGE) break;
    from = (inside.at(-1) as BundleRow).lastBlock + 1;
  }
  return rows;
}
