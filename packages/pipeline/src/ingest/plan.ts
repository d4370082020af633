import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import {
  type Coverage,
  type Database,
  type NetworkDatabase,
  type OpenRange,
  SEGMENT_BLOCKS,
  type WantedRuns,
} from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { JobRequest, Queues } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { openFinalityAlarm } from '../head/finality-alarm.js';
import { type IngestWindow, ingestJobId, packJobId, parseIngestJobId } from '../job-names.js';
import { cutRun } from '../publish/cut-run.js';
import { packableRuns } from '../publish/wanted-blocks.js';
import {
  countBlocks,
  intersectRanges,
  rangesInclude,
  subtractRanges,
  takeRange,
  unionRanges,
} from '../ranges.js';
import type { BackPressure } from './back-pressure.js';
import { isProbed } from './blame.js';
import { probeOf, unknownFork } from './probed-rows.js';

interface PlanParts {
  context: Context;
  database: Database;
  queues: Queues;
  network: Network;
  /** Ingest jobs waiting or running at most (default 32); the next plan comes long before they run out. */
  maxPending?: number;
  /** If set, little is fetched while staging is full. */
  pressure?: BackPressure;
}

type Planning = Omit<PlanParts, 'database'> & { database: NetworkDatabase };

interface PlanReport {
  ingestJobs: number;
  packJobs: number;
  /** Blocks of any kind that still have to be fetched, up to the newest final block. */
  missingBlocks: number;
  /** Whether staging is full. */
  pressed: boolean;
  /** Whether it is far beyond full. */
  severe: boolean;
}

/** Rows of the quarantine that one plan reads. */
const MAX_DUE = 1_000;
/** Raw bytes of block objects that one window should hold. */
const WINDOW_RAW_BYTES = 8_000_000;
/** While no block sizes are known: this many blocks a window, and few windows. */
const UNKNOWN_WINDOW_BLOCKS = 32;
const UNKNOWN_WINDOWS = 4;

/**
 * Enqueues blocks that are wanted and neither staged, published, quarantined nor enqueued already.
 *
 * Postgres is authoritative, the queue is not: everything is computed again each time, so that the next plan fills an
 * emptied queue. Windows are cut on a grid and have deterministic ids, so planning twice adds nothing.
 */
export async function plan(given: PlanParts): Promise<PlanReport> {
  const { network } = given;
  const database = given.database.network(network.id);
  const parts: Planning = { ...given, database };
  const head = await database.head.get();
  if (head === null) return { ingestJobs: 0, packJobs: 0, missingBlocks: 0, pressed: false, severe: false };
  const runs = await database.wanted.runs();
  const open = await database.wanted.open();
  const coverage = new Map<Kind, Coverage>();
  for (const kind of runs.kinds) coverage.set(kind, await database.coverage(kind));

  const view: IngestView = {
    coverage,
    runs,
    open,
    due: new Map(),
    pending: [],
    finalized: head.finalized,
    unknownFrom: Number.POSITIVE_INFINITY,
  };
  const { packJobs, packable } = await planPacking(parts, view);
  view.due = await dueForRetry(parts, coverage, head.finalized);
  const fork = await unknownFork(database);
  view.unknownFrom = fork === null ? Number.POSITIVE_INFINITY : fork.end + 1;
  view.pending = await pendingWindows(parts);
  const pressure = await parts.pressure?.check();
  if (pressure?.began) {
    // Waiting windows were planned when there was room; running ones finish.
    const ids = view.pending.map((window) => ingestJobId(network.id, window));
    await parts.queues.remove('ingest', ids);
    view.pending = await pendingWindows(parts);
  }
  const pressed = pressure?.pressed ?? false;
  const { windows: wished, missingBlocks } = await ingestWindows(parts, view, { pressed, packable });
  // Nothing more is fetched from a chain that differs below finality until that is resolved.
  const halted = (await openFinalityAlarm(parts)) !== null;
  const windows = halted ? [] : wished;
  await parts.queues.add('ingest', windows);
  return { ingestJobs: windows.length, packJobs, missingBlocks, pressed, severe: pressure?.severe ?? false };
}

/** Enqueues a pack job for every run from which a bundle can be cut. `packable`: at least one can. */
async function planPacking(
  { database, network, queues }: Planning,
  { coverage, runs, finalized }: IngestView,
): Promise<{ packJobs: number; packable: boolean }> {
  const packing = await queues.pendingIds('pack');
  const packs: JobRequest<'pack'>[] = [];
  let packable = false;
  for (const [kind, covered] of coverage) {
    for (const run of packableRuns(covered, runs, kind, finalized)) {
      const id = packJobId(network.id, kind, run.start);
      const enqueued = packing.has(id);
      if (!enqueued && (await cutRun({ database, network, kind, run })).length === 0) continue;
      packable = true;
      if (enqueued) continue;
      packs.push({ id, payload: { network: network.id, kind, start: run.start }, priority: 1 });
    }
  }
  await queues.add('pack', packs);
  return { packJobs: packs.length, packable };
}

async function pendingWindows({ queues, network }: Planning): Promise<IngestWindow[]> {
  const ids = [...(await queues.pendingIds('ingest'))];
  return ids.map((id) => parseIngestJobId(network.id, id)).filter((window) => window !== null);
}

/**
 * Quarantined blocks whose next try is due, by kind: they are planned like missing ones; of a range that is probed,
 * one. Blocks staged meanwhile (at the head, by another job) leave the quarantine.
 */
async function dueForRetry(
  { database }: Planning,
  coverage: ReadonlyMap<Kind, Coverage>,
  finalized: number,
): Promise<Map<Kind, BlockRange[]>> {
  const rows = await database.quarantine.due({ finalized, limit: MAX_DUE });
  const due = new Map<Kind, BlockRange[]>();
  for (const row of rows) {
    const { number, end, kinds } = row;
    const range = { start: number, end };
    const there: Kind[] = [];
    for (const kind of kinds) {
      const { staged = [], published = [] } = coverage.get(kind) ?? {};
      const left = subtractRanges([range], unionRanges([...staged, ...published]));
      const probe = isProbed(row.cause) ? probeOf(row, left) : null;
      if (left.length === 0) there.push(kind);
      else
        due.set(kind, [
          ...(due.get(kind) ?? []),
          ...(probe === null ? left : [{ start: probe, end: probe }]),
        ]);
    }
    if (there.length > 0) await database.quarantine.settle(range, there);
  }
  return new Map([...due].map(([kind, ranges]) => [kind, unionRanges(ranges)]));
}

interface IngestView {
  coverage: Map<Kind, Coverage>;
  runs: WantedRuns;
  open: readonly OpenRange[];
  due: Map<Kind, BlockRange[]>;
  pending: IngestWindow[];
  finalized: number;
  /** Blocks from here on are of a fork that is not known: they wait for the probe of its first block. */
  unknownFrom: number;
}

/** A part of a wanted range with missing blocks. */
interface Hole extends BlockRange {
  range: OpenRange;
  missing: Map<Kind, BlockRange[]>;
}

async function ingestWindows(
  parts: Planning,
  view: IngestView,
  { pressed, packable }: { pressed: boolean; packable: boolean },
): Promise<{ windows: JobRequest<'ingest'>[]; missingBlocks: number }> {
  const { network } = parts;
  const { pending } = view;
  let room = (parts.maxPending ?? 32) - pending.length;
  const windows: JobRequest<'ingest'>[] = [];
  const planned = new Map<Kind, BlockRange[]>(
    KINDS.map((kind) => [kind, unionRanges(pending.filter((window) => window.kinds.includes(kind)))]),
  );
  const left = missingBlocksOf(view, planned);
  const missingBlocks = countBlocks(unionRanges([...left.values()].flat()));
  if (pressed) room = packable || pending.length > 0 ? 0 : Math.min(1, room);
  if (room <= 0) return { windows, missingBlocks };
  const all = holes(view.open, left);
  for (const hole of pressed ? holesFirst([...all], view) : all) {
    const { range } = hole;
    const size = await windowBlocks(parts, range.kinds[0] ?? 'blocks', hole.start);
    if (size === null) room = Math.min(room, UNKNOWN_WINDOWS - pending.length - windows.length);
    const step = size ?? UNKNOWN_WINDOW_BLOCKS;
    for (let start = hole.start; start <= hole.end && room > 0; ) {
      const end = Math.min(hole.end, start - (start % step) + step - 1);
      const missingOf = (kind: Kind): BlockRange[] =>
        subtractRanges(hole.missing.get(kind) ?? [], planned.get(kind) ?? []);
      const window: IngestWindow = {
        start,
        end,
        kinds: range.kinds.filter((kind) => intersectRanges(missingOf(kind), [{ start, end }]).length > 0),
      };
      start = end + 1;
      if (window.kinds.length === 0) continue;
      for (const kind of window.kinds) planned.set(kind, unionRanges([...(planned.get(kind) ?? []), window]));
      windows.push({
        id: ingestJobId(network.id, window),
        payload: { network: network.id, ...window },
        priority: range.priority,
      });
      room--;
    }
    if (room <= 0) break;
  }
  return { windows, missingBlocks };
}

/** By kind, the blocks that are wanted, may be fetched now, and are neither there nor planned. */
function missingBlocksOf(
  view: IngestView,
  planned: ReadonlyMap<Kind, readonly BlockRange[]>,
): Map<Kind, BlockRange[]> {
  const known = [{ start: 0, end: Math.min(view.finalized, view.unknownFrom - 1) }];
  const missing = new Map<Kind, BlockRange[]>();
  for (const [kind, active] of view.runs.active) {
    const { staged, published, quarantined } = view.coverage.get(kind) as Coverage;
    const resting = subtractRanges(quarantined, view.due.get(kind) ?? []);
    const settled = unionRanges([...staged, ...published, ...resting, ...(planned.get(kind) ?? [])]);
    missing.set(kind, subtractRanges(intersectRanges(active, known), settled));
  }
  return missing;
}

/** The holes, range by range, the first priority first; no block twice. Takes them out of what is `left`. */
function* holes(open: readonly OpenRange[], left: ReadonlyMap<Kind, BlockRange[]>): Generator<Hole> {
  for (const range of open) {
    if ([...left.values()].every((ranges) => ranges.length === 0)) return;
    const within = { start: range.start, end: range.end ?? Number.POSITIVE_INFINITY };
    const missing = new Map<Kind, BlockRange[]>();
    for (const kind of range.kinds) {
      const taken = takeRange(left.get(kind) ?? [], within);
      if (taken.length > 0) missing.set(kind, taken);
    }
    for (const hole of unionRanges([...missing.values()].flat())) yield { ...hole, range, missing };
  }
}

/**
 * The holes in the order in which they allow packing, for a full staging area of which no bundle can be cut: blocks
 * staged after a hole wait for it, and the last blocks of a run wait for those that fill their bundle. So the lowest
 * hole beside staged blocks comes first; otherwise a full staging area would stay full for ever.
 */
function holesFirst(all: readonly Hole[], { coverage }: IngestView): Hole[] {
  const besideStaged = (hole: Hole): boolean =>
    [...hole.missing].some(([kind, missing]) => {
      const { staged, published } = coverage.get(kind) as Coverage;
      const waiting = subtractRanges(staged, unionRanges(published));
      return intersectRanges(missing, [hole]).some(
        ({ start, end }) => rangesInclude(waiting, end + 1) || rangesInclude(waiting, start - 1),
      );
    });
  const beside = new Set(all.filter(besideStaged));
  return [...all].sort(
    (a, b) => Number(beside.has(b)) - Number(beside.has(a)) || (beside.has(a) ? a.start - b.start : 0),
  );
}

/** How many blocks a window at `start` should have, a power of two up to a segment; null if no sizes are known. */
async function windowBlocks({ database }: Planning, kind: Kind, start: number): Promise<number | null> {
  const average = await averageRawBytes(database, kind, start);
  if (average === null) return null;
  const fit = Math.max(1, WINDOW_RAW_BYTES / Math.max(1, average));
  return Math.min(SEGMENT_BLOCKS, 2 ** Math.floor(Math.log2(fit)));
}

/** Average raw bytes of a record near `start`, of what is staged or published before it. */
async function averageRawBytes(database: NetworkDatabase, kind: Kind, start: number): Promise<number | null> {
  const before = { start: Math.max(0, start - SEGMENT_BLOCKS), end: Math.max(0, start - 1) };
  const fragments = await database.staging.fragments(kind, before);
  const recent = fragments.slice(-64);
  const blocks = recent.reduce((sum, fragment) => sum + fragment.endBlock - fragment.startBlock + 1, 0);
  if (blocks > 0) return recent.reduce((sum, fragment) => sum + fragment.rawLength, 0) / blocks;
  const bundle = await database.bundles.covering(kind, before.end);
  return bundle === null ? null : bundle.rawLength / (bundle.end - bundle.start + 1);
}
