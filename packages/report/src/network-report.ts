import {
  type BlockRange,
  countBlocks,
  intersectRanges,
  KINDS,
  type Kind,
  type NotProved,
  subtractRanges,
  unionRanges,
} from '@packhouse/chain';
import type {
  AlarmRow,
  Database,
  HeadRow,
  HoleCounts,
  NetworkDatabase,
  QuarantineRow,
  QueueHints,
  Standing,
} from '@packhouse/database';
import { leaderLock, PROBED_CAUSES } from '@packhouse/pipeline';
import type { QueueReader } from '@packhouse/queue';
import { queueHints } from './queue-hints.js';

interface ReportParts {
  database: Database;
  /** Without it, or while it is unavailable, `queued` and `fetching` read `waiting`, and `packing` reads `staged`. */
  queue?: Pick<QueueReader, 'peek'> | undefined;
}

/** The progress of a network, for the command line and the metrics. Each part is read only if requested. */
export interface NetworkReport {
  /** Head, finality, the last complete block, and the published blocks of each kind. */
  standing: Standing;
  head: HeadRow | null;
  /** Blocks of each kind that was ever wanted. */
  blocks: KindBlocks[];
  /** Blocks by reason from the first wanted one to the head. */
  holes: {
    /** The counted range; null if nothing is wanted up to there. */
    range: BlockRange | null;
    queueSeen: boolean;
    kinds: HoleCounts[];
  };
  /** The same up to the newest final block, without the state of the queue. */
  finalHoles: HoleCounts[];
  newestStaged: Awaited<ReturnType<NetworkDatabase['staging']['newest']>>;
  /** Quarantined blocks by cause. */
  quarantined: Awaited<ReturnType<NetworkDatabase['quarantine']['causes']>>;
  /** What is not proved in some published bundle, each reason once. */
  notProved: NotProved[];
  /** Alarms that an operator must check, newest first. */
  alarms: AlarmRow[];
  /** Set while staging is full and nothing new is fetched. */
  backPressure: { since: Date; stagedBytes: number; limitBytes: number } | null;
  /** Set if no ingester leads although something is requested: since when, or null if none ever did. */
  leaderless: { since: Date | null } | null;
}

/** Counts are blocks. */
interface KindBlocks {
  kind: Kind;
  requested: number;
  /** Staged and not published yet. */
  staged: number;
  published: number;
  quarantined: number;
  /** Wanted, and neither staged, published nor quarantined. */
  missing: BlockRange[];
}

/** Reads the requested parts from Postgres and, for `holes`, from the queue; shared data are read once. */
export async function networkReport<P extends keyof NetworkReport>(
  { database: all, queue }: ReportParts,
  network: string,
  asked: readonly P[],
): Promise<Pick<NetworkReport, P>> {
  const database = all.network(network);
  let reading: Promise<Standing> | undefined;
  const standing = (): Promise<Standing> => {
    reading ??= database.holes.standing();
    return reading;
  };
  const count = async (range: BlockRange | null, hints: QueueHints | null): Promise<HoleCounts[]> => {
    const kinds = (await standing()).kinds.map(({ kind }) => kind);
    if (range === null || kinds.length === 0) return [];
    return database.holes.count({ kinds, range, hints: hints ?? undefined });
  };
  const read: { [Part in keyof NetworkReport]: () => Promise<NetworkReport[Part]> } = {
    standing,
    head: () => database.head.get(),
    blocks: async () => blocksByState(database, (await standing()).head ?? -1),
    holes: async () => {
      const [{ head, firstRequested, lastRequested }, hints] = await Promise.all([
        standing(),
        queueHints(queue, network),
      ]);
      const range = toRange(firstRequested, head ?? lastRequested);
      return { range, queueSeen: hints !== null, kinds: await count(range, hints) };
    },
    finalHoles: async () => {
      const { firstRequested, finalized } = await standing();
      return count(toRange(firstRequested, finalized), null);
    },
    newestStaged: () => database.staging.newest(),
    quarantined: () => database.quarantine.causes(),
    notProved: () => database.bundles.reasonsNotProved(),
    alarms: () => database.alarms.list(),
    backPressure: () => database.pressure.get(),
    leaderless: async () => {
      if (!(await standing()).kinds.some(({ requested }) => requested)) return null;
      const [lease] = await all.locks([leaderLock(network)]);
      return lease?.held ? null : { since: lease?.expiresAt ?? null };
    },
  };
  const parts = await Promise.all(asked.map(async (part) => [part, await read[part]()] as const));
  return Object.fromEntries(parts) as Pick<NetworkReport, P>;
}

function toRange(firstBlock: number | null, lastBlock: number | null): BlockRange | null {
  return firstBlock === null || lastBlock === null || lastBlock < firstBlock
    ? null
    : { firstBlock, lastBlock };
}

/** Each state's blocks within what is requested; a block of several states counts once, published before staged. */
async function blocksByState(database: NetworkDatabase, head: number): Promise<KindBlocks[]> {
  const { active, paused, kinds } = await database.backfills.runs();
  const found: KindBlocks[] = [];
  const ordered = KINDS.filter((each) => kinds.includes(each));
  for (const [kind, coverage] of await database.coverages(ordered)) {
    const wanted = unionRanges([...(active.get(kind) ?? []), ...(paused.get(kind) ?? [])])
      .map((range) => (Number.isFinite(range.lastBlock) ? range : { ...range, lastBlock: head }))
      .filter((range) => range.lastBlock >= range.firstBlock);
    const published = intersectRanges(wanted, coverage.published);
    const staged = subtractRanges(intersectRanges(wanted, coverage.staged), published);
    const here = unionRanges([...published, ...staged]);
    const quarantined = subtractRanges(intersectRanges(wanted, coverage.quarantined), here);
    found.push({
      kind,
      requested: countBlocks(wanted),
      staged: countBlocks(staged),
      published: countBlocks(published),
      quarantined: countBlocks(quarantined),
      missing: subtractRanges(subtractRanges(wanted, here), quarantined),
    });
  }
  return found;
}

/** A kind as `packhouse status` shows it. */
export interface KindStatus extends KindBlocks {
  network: string;
  bundles: number;
  /** Bytes of all published bundles. */
  bytes: number;
  newestAt: Date | null;
}

export interface NetworkStatus
  extends Pick<NetworkReport, 'alarms' | 'backPressure' | 'leaderless' | 'notProved'> {
  network: string;
  head: number | null;
  finalized: number | null;
  kinds: KindStatus[];
  /** Why whole ranges wait, if it is no fault of single blocks; the first ranges of each cause. */
  causes: (Pick<QuarantineRow, 'cause' | 'kinds' | 'message' | 'nextTry'> & { from: number; to: number })[];
}

/** Ranges of a cause that are shown. */
const MAX_RANGES = 5;

/** The report as `packhouse status` shows it, from Postgres alone. */
export async function networkStatus(database: Database, network: string): Promise<NetworkStatus> {
  const report = await networkReport({ database }, network, [
    'standing',
    'alarms',
    'backPressure',
    'leaderless',
    'notProved',
    'blocks',
  ]);
  const { standing, alarms, backPressure, leaderless, notProved, blocks } = report;
  // Nobody needs to lead a network of which everything is published.
  const isDone =
    standing.lastRequested !== null && blocks.every(({ missing, staged }) => missing.length + staged === 0);
  const { quarantine } = database.network(network);
  const causes = standing.oldestQuarantine === null ? [] : PROBED_CAUSES;
  const rows = await Promise.all(causes.map((cause) => quarantine.list({ cause, limit: MAX_RANGES })));
  return {
    network,
    head: standing.head,
    finalized: standing.finalized,
    causes: rows.flat().map(({ cause, firstBlock: from, lastBlock: to, kinds, message, nextTry }) => {
      return { cause, from, to, kinds, message, nextTry };
    }),
    alarms,
    backPressure,
    leaderless: isDone ? null : leaderless,
    notProved,
    kinds: blocks.map((kind) => {
      const published = standing.kinds.find((each) => each.kind === kind.kind);
      return {
        network,
        ...kind,
        bundles: published?.bundles ?? 0,
        bytes: published?.bytes ?? 0,
        newestAt: published?.newestAt ?? null,
      };
    }),
  };
}

/** The progress of a network, and the reasons of its holes, in blocks. */
export interface CoverageSummary extends Omit<Standing, 'kinds'> {
  network: string;
  /** The counted range: from the first block wanted to the head; null if nothing is wanted up to there. */
  range: BlockRange | null;
  /** Whether the queue answered. */
  queueSeen: boolean;
  kinds: (HoleCounts & { completeThrough: number | null; requested: boolean })[];
}

/** The report in a few numbers per kind, for any number of holes. */
export async function coverageSummary(parts: ReportParts, network: string): Promise<CoverageSummary> {
  const { standing, holes } = await networkReport(parts, network, ['standing', 'holes']);
  const { range, queueSeen, kinds: counts } = holes;
  return {
    network,
    ...standing,
    range,
    queueSeen,
    kinds: standing.kinds.map(({ kind, completeThrough, requested }, at) => ({
      ...(counts[at] ?? { kind, published: 0, missing: {} }),
      completeThrough,
      requested,
    })),
  };
}
