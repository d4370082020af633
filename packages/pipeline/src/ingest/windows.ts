import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import {
  type Coverage,
  type NetworkDatabase,
  type OpenRange,
  SEGMENT_BLOCKS,
  type WantedRuns,
} from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { JobRequest } from '@packhouse/queue';
import { type IngestWindow, ingestJobId } from '../job-names.js';
import {
  countBlocks,
  intersectRanges,
  rangesInclude,
  subtractRanges,
  takeRange,
  unionRanges,
} from '../ranges.js';
import type { FairShares } from './fair-shares.js';

/** Raw bytes of block objects that one window should hold. */
const WINDOW_RAW_BYTES = 8_000_000;
/** While no block sizes are known: this many blocks a window, and few windows. */
const UNKNOWN_WINDOW_BLOCKS = 32;
const UNKNOWN_WINDOWS = 4;

/** What is wanted of a network, and what is there. */
export interface IngestView {
  coverage: Map<Kind, Coverage>;
  runs: WantedRuns;
  open: readonly OpenRange[];
  due: Map<Kind, BlockRange[]>;
  pending: IngestWindow[];
  finalized: number;
  /** Blocks from here on are of a fork that is not known: they wait for the probe of its first block. */
  unknownFrom: number;
}

interface WindowParts {
  network: Network;
  database: NetworkDatabase;
  /** Windows waiting or running at most. */
  maxPending: number;
  shares: FairShares;
}

/** A part of a wanted range with missing blocks. */
interface Hole extends BlockRange {
  range: OpenRange;
  missing: Map<Kind, BlockRange[]>;
}

interface Cut {
  window: IngestWindow;
  /** Expected raw bytes of its block objects. */
  cost: number;
  /** Whether the sizes of blocks near it are known. */
  sizeKnown: boolean;
}

/**
 * The windows to enqueue: of the ranges of the first priority in fair turns, then of the next one. `pressed`: staging is
 * full; then at most one window at a time, and only if nothing is `packable`.
 */
export async function ingestWindows(
  parts: WindowParts,
  view: IngestView,
  { pressed, packable }: { pressed: boolean; packable: boolean },
): Promise<{ windows: JobRequest<'ingest'>[]; missingBlocks: number }> {
  const { network, shares } = parts;
  const { pending } = view;
  const planned = new Map<Kind, BlockRange[]>(
    KINDS.map((kind) => [kind, unionRanges(pending.filter((window) => window.kinds.includes(kind)))]),
  );
  const left = missingBlocksOf(view, planned);
  const missingBlocks = countBlocks(unionRanges([...left.values()].flat()));
  const windows: JobRequest<'ingest'>[] = [];
  let room = parts.maxPending - pending.length;
  if (pressed) room = packable || pending.length > 0 ? 0 : Math.min(1, room);
  /** Enqueues the next window; false: there is no room for it. */
  const enqueue = (range: OpenRange, { window, cost, sizeKnown }: Cut): boolean => {
    if (room <= 0 || (!sizeKnown && pending.length + windows.length >= UNKNOWN_WINDOWS)) return false;
    for (const kind of window.kinds) planned.set(kind, unionRanges([...(planned.get(kind) ?? []), window]));
    const payload = { network: network.id, ...window, range: range.id, owner: range.owner };
    windows.push({ id: ingestJobId(network.id, window), payload, priority: range.priority });
    shares.charge(range, cost);
    room -= 1;
    return true;
  };
  if (room <= 0) return { windows, missingBlocks };

  if (pressed) {
    const all = view.open.flatMap((range) => holesOf(range, left));
    for (const hole of holesFirst(all, view)) {
      for await (const cut of cutsOf(parts, hole, planned)) {
        if (!enqueue(hole.range, cut)) return { windows, missingBlocks };
      }
    }
    return { windows, missingBlocks };
  }
  shares.keep(view.open);
  for (const ranges of byPriority(view.open)) {
    const cuts = new Map<OpenRange, AsyncGenerator<Cut>>();
    const turns = shares.turns(ranges);
    for (let range = turns.take(); range !== undefined; range = turns.take()) {
      const own = cuts.get(range) ?? cutsOfRange(parts, range, { left, planned });
      cuts.set(range, own);
      const next = await own.next();
      if (next.done === true) continue;
      if (!enqueue(range, next.value)) return { windows, missingBlocks };
      turns.again(range);
    }
  }
  return { windows, missingBlocks };
}

/** Ranges of one priority together; they come in its order. */
function byPriority(open: readonly OpenRange[]): OpenRange[][] {
  const groups: OpenRange[][] = [];
  for (const range of open) {
    const last = groups.at(-1);
    if (last?.[0]?.priority === range.priority) last.push(range);
    else groups.push([range]);
  }
  return groups;
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

/** The holes of a range. Takes them out of what is `left`: no block is planned twice. */
function holesOf(range: OpenRange, left: ReadonlyMap<Kind, BlockRange[]>): Hole[] {
  const within = { start: range.start, end: range.end ?? Number.POSITIVE_INFINITY };
  const missing = new Map<Kind, BlockRange[]>();
  for (const kind of range.kinds) {
    const taken = takeRange(left.get(kind) ?? [], within);
    if (taken.length > 0) missing.set(kind, taken);
  }
  return unionRanges([...missing.values()].flat()).map((hole) => ({ ...hole, range, missing }));
}

async function* cutsOfRange(
  parts: WindowParts,
  range: OpenRange,
  { left, planned }: { left: ReadonlyMap<Kind, BlockRange[]>; planned: ReadonlyMap<Kind, BlockRange[]> },
): AsyncGenerator<Cut> {
  for (const hole of holesOf(range, left)) yield* cutsOf(parts, hole, planned);
}

/** Cuts a hole on a grid, so that it is cut the same the next time. */
async function* cutsOf(
  { database }: WindowParts,
  hole: Hole,
  planned: ReadonlyMap<Kind, BlockRange[]>,
): AsyncGenerator<Cut> {
  const { range } = hole;
  const kind = range.kinds[0] ?? 'blocks';
  // What is on its way has no size yet: the blocks before it have.
  const onItsWay = planned.get(kind)?.find(({ start, end }) => start < hole.start && end >= hole.start - 1);
  const average =
    (await averageRawBytes(database, kind, hole.start)) ??
    (onItsWay === undefined ? null : await averageRawBytes(database, kind, onItsWay.start));
  const step = average === null ? UNKNOWN_WINDOW_BLOCKS : windowBlocks(average);
  const blockCost = average ?? WINDOW_RAW_BYTES / UNKNOWN_WINDOW_BLOCKS;
  for (let start = hole.start; start <= hole.end; ) {
    const end = Math.min(hole.end, start - (start % step) + step - 1);
    const missingOf = (kind: Kind): BlockRange[] =>
      subtractRanges(hole.missing.get(kind) ?? [], planned.get(kind) ?? []);
    const kinds = range.kinds.filter((kind) => intersectRanges(missingOf(kind), [{ start, end }]).length > 0);
    const cost = (end - start + 1) * blockCost;
    if (kinds.length > 0) yield { window: { start, end, kinds }, cost, sizeKnown: average !== null };
    start = end + 1;
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

/** How many blocks of this size a window should have: a power of two up to a segment. */
export function windowBlocks(averageRawBytes: number): number {
  const fit = Math.max(1, WINDOW_RAW_BYTES / Math.max(1, averageRawBytes));
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
