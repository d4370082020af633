import { type BlockRange, type Kind, rangesTouch, subtractAll, unionRanges } from '@packhouse/chain';
import type { Coverage, Database, NetworkDatabase, OpenBackfill } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { JobRequest, Queues } from '@packhouse/queue';
import { type Context, getOrAdd } from '@packhouse/runtime';
import { openFinalityAlarm } from '../head/finality-alarm.js';
import { isProbed } from '../ingest/blame.js';
import { getProbe, unknownFork } from '../ingest/probed-rows.js';
import { type IngestWindow, ingestJobId, packJobId, parseIngestJobId } from '../job-names.js';
import { cutRun, packableRuns } from '../publish/packable-runs.js';
import { createOpeningHours, type OpeningHours } from '../schedule/time-window.js';
import type { BackPressure } from './back-pressure.js';
import { getBlocksLeft, requestsPerBlock } from './blocks-left.js';
import { createFairShares, type FairShares } from './fair-shares.js';
import type { PlanTraces } from './plan-traces.js';
import { type IngestView, ingestWindows } from './windows.js';

interface PlanParts {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'add' | 'pendingIds' | 'remove'>;
  network: Network;
  /** Ingest jobs waiting or running at most; default: by what live ingesters run at a time. */
  maxPending?: number;
  /** What ranges have had so far; default: nothing. */
  shares?: FairShares;
  /** What is known of windows of time; default: nothing. */
  hours?: OpeningHours;
  /** The traces of what was planned; default: none. */
  traces?: PlanTraces;
  /** If set, little is fetched while staging is full. */
  pressure?: BackPressure;
  /** Runs that no bundle can be cut from before they grow, kept from plan to plan: they are not looked at again. */
  uncut?: Set<string>;
}

type Planning = Omit<PlanParts, 'database'> & { database: NetworkDatabase };

interface PlanReport {
  ingestJobs: number;
  packJobs: number;
  /** Whether staging is full. */
  pressed: boolean;
  /** Whether it is far beyond full. */
  severe: boolean;
  /** Nothing is under way, held back or due: the next plan adds nothing unless something changes. */
  idle: boolean;
}

/** Rows of the quarantine that one plan reads. */
const MAX_DUE = 1_000;

/**
 * Enqueues blocks that are requested and neither staged, published, quarantined nor enqueued already.
 *
 * Postgres is authoritative, the queue is not: everything is computed again each time, so that the next plan fills an
 * emptied queue. Ranges are left out while their terms hold them back. Windows are cut on a grid and have deterministic
 * ids, so planning twice adds nothing.
 */
export async function plan(given: PlanParts): Promise<PlanReport> {
  const { network } = given;
  const database = given.database.network(network.id);
  const parts: Planning = { ...given, database };
  const head = await database.head.get();
  if (head === null) return { ingestJobs: 0, packJobs: 0, pressed: false, severe: false, idle: true };
  const runs = await database.backfills.runs();
  const { all, left, open } = await openNow(parts);
  const coverage = await database.coverages(runs.kinds);

  const view: IngestView = {
    coverage,
    runs,
    open,
    due: new Map(),
    pending: [],
    blocksLeft: new Map(),
    finalized: head.finalized,
    unknownFrom: Number.POSITIVE_INFINITY,
  };
  const { packJobs, packable } = await planPacking(parts, view);
  view.due = await dueForRetry(parts, coverage, head.finalized);
  const fork = await unknownFork(database);
  view.unknownFrom = fork === null ? Number.POSITIVE_INFINITY : fork.lastBlock + 1;
  view.pending = await pendingWindows(parts);
  const pressure = await parts.pressure?.check();
  // Waiting windows may be planned for a time when there was room, or when their range was to be fetched; running ones
  // finish.
  const stale = pressure?.began ? view.pending : notRequested(view, all);
  if (stale.length > 0) {
    const ids = stale.map((window) => ingestJobId(network.id, window));
    await parts.queues.remove('ingest', ids);
    view.pending = await pendingWindows(parts);
  }
  view.blocksLeft = getBlocksLeft(open, left, view.pending);
  const pressed = pressure?.pressed ?? false;
  const {
    maxPending = windowsToKeep(await given.database.workers.slots(network.id)),
    shares = createFairShares(),
  } = given;
  const cutting = { network, database, maxPending, shares };
  const wished = await ingestWindows(cutting, view, { pressed, packable });
  // Nothing more is fetched from a chain that differs below finality until that is resolved.
  const halted = (await openFinalityAlarm(parts)) !== null;
  const windows = halted ? [] : wished;
  const payloads = windows.map(({ payload }) => payload);
  const span = given.traces?.begin(network.id, payloads);
  const jobs = windows.map((window) => ({ ...window, trace: span?.traceparent }));
  await parts.queues.add('ingest', jobs);
  span?.end();
  const quarantined = [...coverage.values()].some((covered) => covered.quarantined.length > 0);
  const idle = !packable && !pressed && !quarantined && open.length === all.length;
  return {
    ingestJobs: windows.length,
    packJobs,
    pressed,
    severe: pressure?.severe ?? false,
    idle: idle && !halted && wished.length === 0 && view.pending.length === 0,
  };
}

/** The open ranges, and those whose terms let them be fetched now. */
async function openNow({ context, database, hours = createOpeningHours() }: Planning): Promise<{
  all: readonly OpenBackfill[];
  open: OpenBackfill[];
  left: ReadonlyMap<number, number>;
}> {
  const all = await database.backfills.open();
  const limited = all.some(({ maxRequests }) => maxRequests !== null);
  const left = limited ? await database.backfills.requestsLeft() : new Map<number, number>();
  const now = context.clock.now();
  const open = all.filter(
    ({ id, kinds, windows }) =>
      (left.get(id) ?? Number.POSITIVE_INFINITY) >= requestsPerBlock(kinds) && hours.at(windows, now).open,
  );
  return { all, left, open };
}

/** The pending windows of ranges that are held back, paused or cancelled by now. */
function notRequested({ open, pending, runs }: IngestView, all: readonly OpenBackfill[]): IngestWindow[] {
  const now = (kind: Kind): readonly BlockRange[] => {
    if (open.length === all.length) return runs.active.get(kind) ?? [];
    const own = open.filter(({ kinds }) => kinds.includes(kind));
    return unionRanges(
      own.map(({ from, to }) => ({ firstBlock: from, lastBlock: to ?? Number.POSITIVE_INFINITY })),
    );
  };
  const requested = new Map<Kind, readonly BlockRange[]>();
  return pending.filter((window) =>
    window.kinds.every(
      (kind) =>
        !rangesTouch(
          getOrAdd(requested, kind, () => now(kind)),
          window,
        ),
    ),
  );
}

/** Fewer would run out before the next plan where windows are done in milliseconds. */
const MIN_WINDOWS = 8;

/** The windows to keep for ingesters that run so many at a time: twice as many, so that none waits for the next plan. */
export function windowsToKeep(slots: number): number {
  return Math.max(MIN_WINDOWS, 2 * slots);
}

/**
 * Runs that a plan looks at, of those it does not know; the next plan looks at others. A job packs all runs of its kind,
 * so none waits for that.
 */
const MAX_LOOKED_AT = 50;

/** Enqueues a pack job for every run from which a bundle can be cut. `packable`: at least one can. */
async function planPacking(
  { database, network, queues, uncut, traces }: Planning,
  { coverage, runs, finalized }: IngestView,
): Promise<{ packJobs: number; packable: boolean }> {
  const packableOf = [...coverage].map(
    ([kind, covered]) => [kind, packableRuns(covered, runs, kind, finalized)] as const,
  );
  // Almost always nothing waits to be packed, and then the queue need not be asked.
  const none = packableOf.every(([, found]) => found.length === 0);
  const packing = none ? new Set<string>() : await queues.pendingIds('pack');
  const packs: JobRequest<'pack'>[] = [];
  const waiting = new Set<string>();
  const { maxBytes, maxBlocks } = network.bundles;
  let packable = false;
  let looks = uncut === undefined ? Number.POSITIVE_INFINITY : MAX_LOOKED_AT;
  for (const [kind, found] of packableOf) {
    for (const run of found) {
      const id = packJobId(network.id, kind, run.firstBlock);
      if (packing.has(id)) {
        packable = true;
        continue;
      }
      const name = `${id} ${run.lastBlock} ${run.closed} ${run.waits} ${maxBytes} ${maxBlocks}`;
      if (uncut?.has(name)) waiting.add(name);
      else if (looks-- > 0) {
        if ((await cutRun({ database, network, kind, run })).length === 0) waiting.add(name);
        else {
          const payload = { network: network.id, kind, firstBlock: run.firstBlock };
          packs.push({ id, payload, priority: 1, trace: traces?.of(kind, run) });
        }
      }
    }
  }
  uncut?.clear();
  for (const name of waiting) uncut?.add(name);
  await queues.add('pack', packs);
  return { packJobs: packs.length, packable: packable || packs.length > 0 };
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
    const { firstBlock, lastBlock, kinds } = row;
    const range = { firstBlock, lastBlock };
    const there: Kind[] = [];
    for (const kind of kinds) {
      const { staged = [], published = [] } = coverage.get(kind) ?? {};
      const left = subtractAll(range, [staged, published]);
      const probe = isProbed(row.cause) ? getProbe(row, left) : null;
      if (left.length === 0) there.push(kind);
      const tried = probe === null ? left : [{ firstBlock: probe, lastBlock: probe }];
      getOrAdd(due, kind, () => []).push(...tried);
    }
    if (there.length > 0) await database.quarantine.settle(range, there);
  }
  return new Map([...due].map(([kind, ranges]) => [kind, unionRanges(ranges)]));
}
