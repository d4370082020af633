import { addRange, type BlockRange, KINDS, type Kind, unionRanges } from '@packhouse/chain';
import {
  type Coverage,
  type NetworkDatabase,
  type OpenBackfill,
  type RequestedRuns,
  SEGMENT_BLOCKS,
} from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { JobRequest } from '@packhouse/queue';
import { type IngestWindow, ingestJobId } from '../job-names.js';
import type { FairShares } from './fair-shares.js';
import { lowestBesideStaged, type MissingBlocks, missingBlocks } from './missing-blocks.js';

/** Raw bytes of block objects that one window should hold. */
const WINDOW_RAW_BYTES = 8_000_000;
/** While no block sizes are known: this many blocks a window, and few windows. */
const UNKNOWN_WINDOW_BLOCKS = 32;
const UNKNOWN_WINDOWS = 4;

/** What is requested of a network, and what is there. */
export interface IngestView {
  coverage: Map<Kind, Coverage>;
  runs: RequestedRuns;
  open: readonly OpenBackfill[];
  due: Map<Kind, BlockRange[]>;
  pending: IngestWindow[];
  /** Blocks that may still be planned of backfills with a limit of requests, by id. */
  blocksLeft: ReadonlyMap<number, number>;
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

/** What the windows of a plan are cut with. */
interface Hunt {
  parts: WindowParts;
  missing: MissingBlocks;
  blocksLeft: ReadonlyMap<number, number>;
  planned: ReadonlyMap<Kind, readonly BlockRange[]>;
  /** Average raw bytes of a record by kind and segment, where they are known. */
  averages: Map<string, number>;
  /** Published bytes of a block by kind, of the whole network, where they are known; read once, if a window is cut. */
  sizes(): Promise<ReadonlyMap<Kind, number>>;
}

interface Cut {
  window: IngestWindow;
  /** Expected raw bytes of its records, of all its kinds. */
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
): Promise<JobRequest<'ingest'>[]> {
  const { network, shares } = parts;
  const { pending } = view;
  const planned = new Map<Kind, BlockRange[]>(
    KINDS.map((kind) => [kind, unionRanges(pending.filter((window) => window.kinds.includes(kind)))]),
  );
  const windows: JobRequest<'ingest'>[] = [];
  let room = parts.maxPending - pending.length;
  if (pressed) room = packable || pending.length > 0 ? 0 : Math.min(1, room);
  /** Enqueues the next window; false: there is no room for it. */
  const enqueue = (range: OpenBackfill, { window, cost, sizeKnown }: Cut): boolean => {
    if (room <= 0 || (!sizeKnown && pending.length + windows.length >= UNKNOWN_WINDOWS)) return false;
    for (const kind of window.kinds) addRange(planned.get(kind) ?? [], window);
    const payload = { network: network.id, ...window, backfill: range.id, owner: range.owner };
    windows.push({ id: ingestJobId(network.id, window), payload, priority: range.priority });
    shares.charge(range, cost);
    room -= 1;
    return true;
  };
  if (room <= 0) return windows;
  let sizes: Promise<ReadonlyMap<Kind, number>> | undefined;
  const hunt: Hunt = {
    parts,
    planned,
    averages: new Map(),
    missing: missingBlocks(view, planned),
    blocksLeft: view.blocksLeft,
    sizes: () => {
      sizes ??= getSizes(parts.database, view.open);
      return sizes;
    },
  };

  if (pressed) {
    const beside = lowestBesideStaged(view.open, view.coverage, hunt.missing);
    const all = view.open.map((range) => ({ range, start: range.from }));
    for (const { range, start } of beside === null ? all : [beside, ...all]) {
      for await (const cut of getCuts(hunt, range, start)) if (!enqueue(range, cut)) return windows;
    }
    return windows;
  }
  shares.keep(view.open);
  for (const ranges of byPriority(view.open)) {
    const cuts = new Map<OpenBackfill, AsyncGenerator<Cut>>();
    const turns = shares.turns(ranges);
    for (let range = turns.take(); range !== undefined; range = turns.take()) {
      const own = cuts.get(range) ?? getCuts(hunt, range, range.from);
      cuts.set(range, own);
      const next = await own.next();
      if (next.done === true) continue;
      if (!enqueue(range, next.value)) return windows;
      turns.again(range);
    }
  }
  return windows;
}

/** Ranges of one priority together; they come in its order. */
function byPriority(open: readonly OpenBackfill[]): OpenBackfill[][] {
  const groups: OpenBackfill[][] = [];
  for (const range of open) {
    const last = groups.at(-1);
    if (last?.[0]?.priority === range.priority) last.push(range);
    else groups.push([range]);
  }
  return groups;
}

/** Cuts the missing blocks of a range from `start` on, on a grid, so that they are cut the same the next time. */
async function* getCuts(hunt: Hunt, range: OpenBackfill, start: number): AsyncGenerator<Cut> {
  const { missing } = hunt;
  const last = missing.getEnd(range);
  let average: number | null = null;
  let left = hunt.blocksLeft.get(range.id) ?? Number.POSITIVE_INFINITY;
  for (let at = start, follows = -1; ; at = follows) {
    const first = findFirstMissing(hunt, range, { firstBlock: at, lastBlock: last });
    if (first === null || left <= 0) return;
    // Windows that follow each other are cut alike.
    if (first !== follows) average = await averageNear(hunt, range.kinds[0] ?? 'blocks', first);
    const step = average === null ? UNKNOWN_WINDOW_BLOCKS : windowBlocks(average);
    const lastBlock = findLastMissing(hunt, range, {
      firstBlock: first,
      lastBlock: Math.min(last, first - (first % step) + step - 1, first + left - 1),
    });
    const kinds = range.kinds.filter((kind) => missing.next(kind, { firstBlock: first, lastBlock }) !== null);
    const own = average ?? WINDOW_RAW_BYTES / UNKNOWN_WINDOW_BLOCKS;
    const cost = (lastBlock - first + 1) * own * timesFirst(await hunt.sizes(), range.kinds, kinds);
    yield { window: { firstBlock: first, lastBlock, kinds }, cost, sizeKnown: average !== null };
    left -= lastBlock - first + 1;
    follows = lastBlock + 1;
  }
}

async function getSizes(
  { bundles }: NetworkDatabase,
  open: readonly OpenBackfill[],
): Promise<ReadonlyMap<Kind, number>> {
  const kinds = KINDS.filter((kind) => open.some((range) => range.kinds.includes(kind)));
  const sizes = new Map<Kind, number>();
  for (const kind of kinds) {
    const { bytes, blocks } = await bundles.totals(kind);
    if (blocks > 0) sizes.set(kind, bytes / blocks);
  }
  return sizes;
}

/** How many times the first kind of a range the kinds of a window are; what is unknown counts as much. */
function timesFirst(
  sizes: ReadonlyMap<Kind, number>,
  [first]: readonly Kind[],
  kinds: readonly Kind[],
): number {
  const own = first === undefined ? undefined : sizes.get(first);
  if (own === undefined || own === 0) return kinds.length;
  return kinds.reduce((sum, kind) => sum + (sizes.get(kind) ?? own) / own, 0);
}

/** The first block that is missing in a kind of the range; null: none is. */
function findFirstMissing({ missing }: Hunt, { kinds }: OpenBackfill, within: BlockRange): number | null {
  const firsts = kinds.map((kind) => missing.next(kind, within)?.firstBlock ?? Number.POSITIVE_INFINITY);
  const first = Math.min(...firsts);
  return Number.isFinite(first) ? first : null;
}

/** The last block up to which each is missing in a kind of the range. */
function findLastMissing(
  { missing }: Hunt,
  { kinds }: OpenBackfill,
  { firstBlock, lastBlock }: BlockRange,
): number {
  let last = firstBlock - 1;
  for (let grown = true; grown && last < lastBlock; ) {
    grown = false;
    for (const kind of kinds) {
      const part = missing.next(kind, { firstBlock: last + 1, lastBlock });
      if (part?.firstBlock !== last + 1) continue;
      last = part.lastBlock;
      grown = true;
    }
  }
  return last;
}

/** Average raw bytes of a record near a missing block; null: unknown. */
async function averageNear(
  { parts, planned, averages }: Hunt,
  kind: Kind,
  start: number,
): Promise<number | null> {
  const near = `${kind} ${Math.floor(start / SEGMENT_BLOCKS)}`;
  const known = averages.get(near);
  if (known !== undefined) return known;
  // What is on its way has no size yet: the blocks before it have.
  const onItsWay = planned
    .get(kind)
    ?.find((range) => range.firstBlock < start && range.lastBlock >= start - 1);
  const average =
    (await averageRawBytes(parts.database, kind, start)) ??
    (onItsWay === undefined ? null : await averageRawBytes(parts.database, kind, onItsWay.firstBlock));
  if (average !== null) averages.set(near, average);
  return average;
}

/** How many blocks of this size a window should have: a power of two up to a segment. */
export function windowBlocks(averageRawBytes: number): number {
  const fit = Math.max(1, WINDOW_RAW_BYTES / Math.max(1, averageRawBytes));
  return Math.min(SEGMENT_BLOCKS, 2 ** Math.floor(Math.log2(fit)));
}

/** Average raw bytes of a record near `start`, of what is staged or published before it. */
async function averageRawBytes(database: NetworkDatabase, kind: Kind, start: number): Promise<number | null> {
  const before = { firstBlock: Math.max(0, start - SEGMENT_BLOCKS), lastBlock: Math.max(0, start - 1) };
  const fragments = await database.staging.fragments(kind, before);
  const recent = fragments.slice(-64);
  const blocks = recent.reduce((sum, fragment) => sum + fragment.lastBlock - fragment.firstBlock + 1, 0);
  if (blocks > 0) return recent.reduce((sum, fragment) => sum + fragment.rawLength, 0) / blocks;
  const bundle = await database.bundles.covering(kind, before.lastBlock);
  return bundle === null ? null : bundle.rawLength / (bundle.lastBlock - bundle.firstBlock + 1);
}
