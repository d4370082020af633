import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { type Coverage, type Database, SEGMENT_BLOCKS } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { JobRequest, Queues } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { cutRun } from './cut-run.js';
import { type IngestWindow, ingestJobId, packJobId, parseIngestJobId } from './job-names.js';
import { intersectRanges, subtractRanges, unionRanges } from './ranges.js';
import { intendedRanges, packableRuns } from './wanted-blocks.js';

export interface PlanParts {
  context: Context;
  database: Database;
  queues: Queues;
  network: Network;
  /** Ingest jobs kept waiting or running at most; the plan is made again long before they run out. */
  maxPending?: number;
}

export interface PlanReport {
  ingestJobs: number;
  packJobs: number;
  /** Blocks of any kind that still have to be fetched, up to the newest final block. */
  missingBlocks: number;
}

/** Raw bytes of block objects that one window should hold. */
const WINDOW_RAW_BYTES = 8_000_000;
/** While nothing is known of the sizes: this many blocks a window, and few windows. */
const UNKNOWN_WINDOW_BLOCKS = 32;
const UNKNOWN_WINDOWS = 4;

/**
 * Enqueues what is wanted and neither staged, published, quarantined nor enqueued already.
 *
 * Postgres is the truth and the queue a hint: everything here is computed anew each time, so a wiped queue is
 * filled again by the next plan. Windows are cut on a grid and carry deterministic ids, so planning twice adds
 * nothing.
 */
export async function plan(parts: PlanParts): Promise<PlanReport> {
  const { database, network } = parts;
  const head = await database.head.get(network.id);
  if (head === null) return { ingestJobs: 0, packJobs: 0, missingBlocks: 0 };
  const wanted = await database.wanted.list(network.id);
  const kinds = KINDS.filter((kind) => wanted.some((range) => range.kinds.includes(kind)));
  const coverage = new Map<Kind, Coverage>();
  for (const kind of kinds) coverage.set(kind, await database.coverage(network.id, kind));

  const due = await dueForRetry(parts);
  const pending = [...(await parts.queues.pendingIds('ingest'))]
    .map((id) => parseIngestJobId(network.id, id))
    .filter((window) => window !== null);
  const { windows, missingBlocks } = await ingestWindows(parts, {
    coverage,
    wanted,
    due,
    pending,
    finalized: head.finalized,
  });
  await parts.queues.add('ingest', windows);

  const packing = await parts.queues.pendingIds('pack');
  const packs: JobRequest<'pack'>[] = [];
  for (const [kind, covered] of coverage) {
    const intended = intendedRanges(wanted, kind, ['active', 'paused']);
    for (const run of packableRuns(covered, intended, head.finalized)) {
      const id = packJobId(network.id, kind, run.start);
      if (packing.has(id) || (await cutRun({ database, network, kind, run })).length === 0) continue;
      packs.push({
        id,
        payload: { network: network.id, kind, start: run.start },
        priority: 1,
      });
    }
  }
  await parts.queues.add('pack', packs);
  return { ingestJobs: windows.length, packJobs: packs.length, missingBlocks };
}

/** Quarantined blocks whose next try is due: they are planned like missing ones. */
async function dueForRetry({ database, network, context }: PlanParts): Promise<BlockRange[]> {
  const now = context.clock.now();
  const rows = await database.quarantine.list(network.id);
  return unionRanges(
    rows.filter((row) => row.nextTry.getTime() <= now).map((row) => ({ start: row.number, end: row.number })),
  );
}

interface IngestView {
  coverage: Map<Kind, Coverage>;
  wanted: Awaited<ReturnType<Database['wanted']['list']>>;
  due: BlockRange[];
  pending: IngestWindow[];
  finalized: number;
}

async function ingestWindows(
  parts: PlanParts,
  view: IngestView,
): Promise<{ windows: JobRequest<'ingest'>[]; missingBlocks: number }> {
  const { network } = parts;
  const maxPending = parts.maxPending ?? 32;
  let room = maxPending - view.pending.length;
  let missingBlocks = 0;
  const windows: JobRequest<'ingest'>[] = [];
  const planned = new Map<Kind, BlockRange[]>(
    KINDS.map((kind) => [kind, unionRanges(view.pending.filter((window) => window.kinds.includes(kind)))]),
  );
  const active = view.wanted
    .filter((range) => range.state === 'active')
    .sort((a, b) => a.priority - b.priority || a.id - b.id);
  for (const range of active) {
    const target = [{ start: range.start, end: Math.min(range.end ?? view.finalized, view.finalized) }];
    if ((target[0] as BlockRange).end < range.start) continue;
    const missing = new Map<Kind, BlockRange[]>();
    for (const kind of range.kinds) {
      const { staged, published, quarantined } = view.coverage.get(kind) as Coverage;
      const settled = unionRanges([...staged, ...published, ...subtractRanges(quarantined, view.due)]);
      const left = subtractRanges(target, unionRanges([...settled, ...(planned.get(kind) ?? [])]));
      if (left.length > 0) missing.set(kind, left);
    }
    const anyKind = unionRanges([...missing.values()].flat());
    missingBlocks += anyKind.reduce((sum, hole) => sum + hole.end - hole.start + 1, 0);
    for (const hole of anyKind) {
      if (room <= 0) break;
      const size = await windowBlocks(parts, range.kinds[0] ?? 'blocks', hole.start);
      if (size === null) room = Math.min(room, UNKNOWN_WINDOWS - view.pending.length - windows.length);
      const step = size ?? UNKNOWN_WINDOW_BLOCKS;
      for (let start = hole.start; start <= hole.end && room > 0; ) {
        const end = Math.min(hole.end, start - (start % step) + step - 1);
        const window: IngestWindow = {
          start,
          end,
          kinds: range.kinds.filter(
            (kind) => intersectRanges(missing.get(kind) ?? [], [{ start, end }]).length > 0,
          ),
        };
        for (const kind of window.kinds)
          planned.set(kind, unionRanges([...(planned.get(kind) ?? []), window]));
        windows.push({
          id: ingestJobId(network.id, window),
          payload: { network: network.id, ...window },
          priority: range.priority,
        });
        room--;
        start = end + 1;
      }
    }
  }
  return { windows, missingBlocks };
}

/** How many blocks a window at `start` should have, a power of two up to a segment; null where nothing is known. */
async function windowBlocks(
  { database, network }: PlanParts,
  kind: Kind,
  start: number,
): Promise<number | null> {
  const average = await averageRawBytes(database, network.id, kind, start);
  if (average === null) return null;
  const fit = Math.max(1, WINDOW_RAW_BYTES / Math.max(1, average));
  return Math.min(SEGMENT_BLOCKS, 2 ** Math.floor(Math.log2(fit)));
}

/** Raw bytes of a record near `start`, from what is staged or published before it. */
async function averageRawBytes(
  database: Database,
  network: string,
  kind: Kind,
  start: number,
): Promise<number | null> {
  const before = { start: Math.max(0, start - SEGMENT_BLOCKS), end: Math.max(0, start - 1) };
  const fragments = await database.staging.fragments(network, kind, before);
  const recent = fragments.slice(-64);
  const blocks = recent.reduce((sum, fragment) => sum + fragment.endBlock - fragment.startBlock + 1, 0);
  if (blocks > 0) return recent.reduce((sum, fragment) => sum + fragment.rawLength, 0) / blocks;
  const bundle = await database.bundles.covering(network, kind, before.end);
  return bundle === null ? null : bundle.rawLength / (bundle.end - bundle.start + 1);
}
