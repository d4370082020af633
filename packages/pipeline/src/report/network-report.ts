import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import type { AlarmRow, Database, WantedRange } from '@packhouse/database';
import { intendedRanges } from '../publish/wanted-blocks.js';
import { countBlocks, intersectRanges, subtractRanges, unionRanges } from '../ranges.js';

/** Where one kind of one network stands. Counts are blocks. */
export interface KindStatus {
  network: string;
  kind: Kind;
  wanted: number;
  /** Staged and not published yet. */
  staged: number;
  published: number;
  quarantined: number;
  /** Wanted, and neither staged, published nor quarantined. */
  missing: BlockRange[];
  bundles: number;
  /** Bytes of all published bundles. */
  bytes: number;
  newestAt: Date | null;
}

export interface NetworkStatus {
  network: string;
  head: number | null;
  finalized: number | null;
  /** What an operator must look at, newest first. */
  alarms: AlarmRow[];
  /** Where staging is full and nothing new is fetched. */
  backPressure: { since: Date; stagedBytes: number; limitBytes: number } | null;
  kinds: KindStatus[];
}

/** Reads where a network stands from Postgres alone. */
export async function networkStatus(database: Database, network: string): Promise<NetworkStatus> {
  const head = await database.head.get(network);
  const wanted = await database.wanted.list(network);
  const kinds: KindStatus[] = [];
  for (const kind of KINDS) {
    if (wanted.some((range) => range.kinds.includes(kind))) {
      kinds.push(await kindStatus(database, network, kind, wanted, head?.number ?? -1));
    }
  }
  const alarms = await database.alarms.list({ network });
  const backPressure = await database.pressure.get(network);
  return {
    network,
    head: head?.number ?? null,
    finalized: head?.finalized ?? null,
    alarms,
    backPressure,
    kinds,
  };
}

async function kindStatus(
  database: Database,
  network: string,
  kind: Kind,
  wantedRanges: readonly WantedRange[],
  head: number,
): Promise<KindStatus> {
  const [coverage, totals] = await Promise.all([
    database.coverage(network, kind),
    database.bundles.totals(network, kind),
  ]);
  const wanted = intendedRanges(wantedRanges, kind, ['active', 'paused']).map((range) => ({
    start: range.start,
    end: Number.isFinite(range.end) ? range.end : Math.max(head, range.start - 1),
  }));
  const within = (ranges: readonly BlockRange[]): BlockRange[] =>
    intersectRanges(wanted, unionRanges(ranges));
  const published = within(coverage.published);
  const staged = subtractRanges(within(coverage.staged), published);
  const quarantined = subtractRanges(within(coverage.quarantined), unionRanges([...published, ...staged]));
  return {
    network,
    kind,
    wanted: countBlocks(wanted.filter((range) => range.end >= range.start)),
    staged: countBlocks(staged),
    published: countBlocks(published),
    quarantined: countBlocks(quarantined),
    missing: subtractRanges(
      wanted.filter((range) => range.end >= range.start),
      unionRanges([...published, ...staged, ...quarantined]),
    ),
    bundles: totals.bundles,
    bytes: totals.bytes,
    newestAt: totals.newestAt,
  };
}
