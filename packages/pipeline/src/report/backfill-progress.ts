import type {
  Backfill,
  Database,
  HoleCounts,
  HoleReason,
  NetworkDatabase,
  OpenBackfill,
  QueueHints,
} from '@packhouse/database';
import type { QueueReader } from '@packhouse/queue';
import { getOrAdd } from '@packhouse/runtime';
import { FINALITY_ALARM } from '../head/finality-alarm.js';
import { unknownFork } from '../ingest/probed-rows.js';
import { requestsPerBlock } from '../plan/blocks-left.js';
import { type DeadlineOutlook, deadlineOutlook, forecastEnd, openTime } from '../schedule/outlook.js';
import { createOpeningHours, type OpeningHours } from '../schedule/time-window.js';
import { queueHints } from './queue-hints.js';
import { findSilence } from './silent-nodes.js';

interface ReportParts {
  database: Database;
  /** Without it, or while it is unavailable, what is fetched and what is queued is not told apart from what waits. */
  queue?: Pick<QueueReader, 'peek'> | undefined;
}

/** Why a range waits. The pipeline decides which; how each reads is the command line's affair. */
export type WaitReason =
  | 'paused'
  | 'cancelled'
  | 'no-head'
  | 'window-closed'
  | 'max-requests'
  | 'budget'
  | 'halted'
  | 'staging-full'
  | 'no-ingester'
  | 'nodes-silent'
  | 'fork-unknown'
  | 'queued'
  | 'behind'
  | 'planned'
  | 'quarantined'
  | 'packing'
  | 'not-final';

interface BackfillWait {
  reason: WaitReason;
  /** When it ends, if that is known. */
  until: Date | null;
  /** Since when, if that is known. */
  since?: Date;
  /** Of `behind`: the range that is first. */
  behind?: number;
  /** Of `budget`: whose. */
  provider?: string;
}

/** Blocks a second of open time. */
interface Rate {
  blocksPerSecond: number;
  /** Of this backfill, or where it is too new, of all blocks of its kinds. */
  of: 'backfill' | 'network';
}

/** How far a requested range is, and what it waits for. */
export interface BackfillProgress {
  backfill: Backfill;
  /** By the clock of Postgres. */
  at: Date;
  /** Of each kind; a range that follows the head is counted up to it. */
  kinds: HoleCounts[];
  /** Final blocks that have still to be fetched, of the kind with the most. */
  blocksLeft: number;
  /** Requests sent to nodes for it. */
  requests: number;
  rate: Rate | null;
  /** When what is final now is fetched, at this rate, from when a used-up budget is new; null: unknown, or it stands still. */
  forecast: Date | null;
  /** null: it has none, or everything is there. */
  deadline: DeadlineOutlook | null;
  state: 'done' | 'fetching' | 'waiting';
  /** What it waits for now, the main reason first; also while its last windows are fetched. */
  waits: BackfillWait[];
}

/** Final blocks in these states are not fetched yet. */
const TO_FETCH: readonly HoleReason[] = [
  'waiting',
  'throttled',
  'halted',
  'queued',
  'fetching',
  'quarantined',
  'paused',
  'cancelled',
  'not-requested',
];
/** It goes on only after somebody did something. */
const STANDS_STILL: readonly WaitReason[] = [
  'paused',
  'cancelled',
  'max-requests',
  'halted',
  'no-ingester',
  'nodes-silent',
];
/** A rate over less is not told, in milliseconds. */
const MIN_MS = 60_000;

/** Reads how far a range is. */
export const getBackfillProgress = (parts: ReportParts, range: Backfill): Promise<BackfillProgress> =>
  createProgressReader(parts)(range);

/** Reads how far ranges are; what ranges of a network have in common is read once. To be made for each report. */
export function createProgressReader(parts: ReportParts): (range: Backfill) => Promise<BackfillProgress> {
  const networks = new Map<string, Promise<NetworkFacts>>();
  const hours = createOpeningHours();
  return async (range) => {
    const facts = await getOrAdd(networks, range.network, () => readFacts(parts, range.network));
    return readProgress(parts, range, facts, hours);
  };
}

/** What the ranges of a network have in common. */
type NetworkFacts = Awaited<ReturnType<typeof readFacts>>;

async function readFacts({ database: all, queue }: ReportParts, network: string) {
  const database = all.network(network);
  const [head, hints, alarms, pressure, fork, slots, seen, budgets, silence] = await Promise.all([
    database.head.get(),
    queueHints(queue, network),
    database.alarms.list(),
    database.pressure.get(),
    unknownFork(database),
    all.workers.slots(network),
    all.workers.ingesterSeen(),
    all.budgets.waits(),
    findSilence(all, network),
  ]);
  const budget = budgets.find((each) => each.network === network);
  /** Of all blocks of a network, by kinds. */
  const paces = new Map<string, ReturnType<NetworkDatabase['backfills']['pace']>>();
  const ingesterSeen = seen.get(network) ?? null;
  return { head, hints, alarms, pressure, fork, slots, ingesterSeen, budget, silence, paces };
}

async function readProgress(
  { database: all }: ReportParts,
  range: Backfill,
  facts: NetworkFacts,
  hours: OpeningHours,
): Promise<BackfillProgress> {
  const database = all.network(range.network);
  const { head, hints } = facts;
  const spending = await all.spending.ofBackfill(range.id);
  const lastBlock = range.to ?? Math.max(range.from, head?.number ?? range.from);
  const kinds = await database.holes.count({
    kinds: range.kinds,
    range: { firstBlock: range.from, lastBlock },
    hints: hints ?? undefined,
  });
  const most = (reasons: readonly HoleReason[]): number =>
    Math.max(...kinds.map(({ missing }) => reasons.reduce((sum, reason) => sum + (missing[reason] ?? 0), 0)));
  const pace = await database.backfills.pace(range, range.createdAt);
  const now = pace.now.getTime();
  const blocksLeft = most(TO_FETCH);
  const rate = await getRate(database, range, hours, pace, most(['staged', 'packing']), facts.paces);
  const work = { hours, windows: range.windows, blocks: blocksLeft, rate: rate?.blocksPerSecond ?? null };
  const waits = await getWaits({ database, facts, hours, now }, range, spending.requests, most);
  const stands = waits.some(({ reason }) => STANDS_STILL.includes(reason)) && blocksLeft > 0;
  const again = Math.max(
    now,
    ...waits.map(({ reason, until }) => (reason === 'budget' ? Number(until) : now)),
  );
  const done = range.to !== null && kinds.every(({ missing }) => Object.keys(missing).length === 0);
  return {
    backfill: range,
    at: pace.now,
    kinds,
    blocksLeft,
    requests: spending.requests,
    rate,
    forecast: stands ? null : forecastEnd(work, again),
    deadline: range.deadline === null || done ? null : deadlineOutlook(work, range.deadline, now),
    state: done ? 'done' : most(['fetching']) > 0 ? 'fetching' : 'waiting',
    waits: done ? [] : waits,
  };
}

/** The rate of the last day. */
async function getRate(
  database: NetworkDatabase,
  range: Backfill,
  hours: OpeningHours,
  pace: Awaited<ReturnType<NetworkDatabase['backfills']['pace']>>,
  staged: number,
  paces: NetworkFacts['paces'],
): Promise<Rate | null> {
  const rate = (blocks: number, ms: number, of: Rate['of']): Rate | null =>
    blocks > 0 && ms >= MIN_MS ? { blocksPerSecond: (blocks * 1_000) / ms, of } : null;
  const open = openTime(hours, range.windows, pace.from.getTime(), pace.now.getTime());
  const own = rate(pace.blocks + staged, open, 'backfill');
  if (own !== null) return own;
  const { blocks, first, now } = await getOrAdd(paces, range.kinds.join(), () =>
    database.backfills.pace({ kinds: range.kinds, from: 0, to: null }, null),
  );
  return first === null ? null : rate(blocks, now.getTime() - first.getTime(), 'network');
}

interface WaitParts {
  database: NetworkDatabase;
  facts: NetworkFacts;
  hours: OpeningHours;
  now: number;
}

async function getWaits(
  { database, facts, hours, now }: WaitParts,
  range: Backfill,
  requests: number,
  most: (reasons: readonly HoleReason[]) => number,
): Promise<BackfillWait[]> {
  const waits: BackfillWait[] = [];
  const add = (reason: WaitReason, until: Date | null = null, more: Partial<BackfillWait> = {}): void => {
    waits.push({ reason, until, ...more });
  };
  const { createdAt, stopped } = range;
  if (range.state !== 'active') add(range.state, null, stopped === null ? {} : { since: stopped.at });
  const opening = hours.at(range.windows, now);
  if (!opening.open) add('window-closed', opening.until === null ? null : new Date(opening.until));
  if (range.maxRequests !== null && requests + requestsPerBlock(range.kinds) > range.maxRequests)
    add('max-requests');
  const { alarms, budget, fork, head, hints, ingesterSeen, pressure, silence, slots } = facts;
  if (silence !== null) add('nodes-silent', null, { since: silence.since });
  if (head === null) add('no-head', null, { since: createdAt });
  const halt = alarms.find(({ name }) => name === FINALITY_ALARM);
  if (halt !== undefined) add('halted', null, { since: halt.raisedAt });
  if (pressure !== null && most(['throttled']) > 0) add('staging-full', null, { since: pressure.since });
  if (budget !== undefined && most(TO_FETCH) > 0) {
    const { provider, since, until } = budget;
    add('budget', until, { provider, since });
  }
  if (slots === 0) add('no-ingester', null, { since: ingesterSeen ?? createdAt });
  if (fork !== null && (range.to ?? Number.POSITIVE_INFINITY) > fork.lastBlock)
    add('fork-unknown', fork.nextTry, { since: fork.firstSeen });
  if (waits.length > 0 || most(['fetching']) > 0) return waits;
  if (most(['queued']) > 0) add('queued');
  else if (most(['waiting']) > 0) {
    const first = firstInQueue(await database.backfills.open(), range, hints);
    if (first === undefined) add('planned');
    else add('behind', null, { behind: first.id });
  } else if (most(['quarantined']) > 0) {
    const rows = await database.quarantine.within({
      firstBlock: range.from,
      lastBlock: range.to ?? Number.MAX_SAFE_INTEGER,
    });
    add('quarantined', new Date(Math.min(...rows.map(({ nextTry }) => nextTry.getTime()))), {
      since: new Date(Math.min(...rows.map(({ firstSeen }) => firstSeen.getTime()))),
    });
  } else if (most(['staged', 'packing']) > 0) add('packing');
  else add('not-final');
  return waits;
}

/** The first range of a higher priority of which a window is in the queue. */
function firstInQueue(
  open: readonly OpenBackfill[],
  { priority }: Backfill,
  hints: QueueHints | null,
): OpenBackfill | undefined {
  return open.find(
    (range) =>
      range.priority < priority &&
      hints?.windows.some(
        ({ firstBlock, lastBlock, kinds }) =>
          firstBlock <= (range.to ?? Number.POSITIVE_INFINITY) &&
          lastBlock >= range.from &&
          kinds.some((kind) => range.kinds.includes(kind)),
      ),
  );
}
