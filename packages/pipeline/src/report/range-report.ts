import type {
  Database,
  HoleCounts,
  HoleReason,
  NetworkDatabase,
  OpenRange,
  QueueHints,
  WantedRange,
} from '@packhouse/database';
import type { QueueReader } from '@packhouse/queue';
import { FINALITY_ALARM } from '../head/finality-alarm.js';
import { unknownFork } from '../ingest/probed-rows.js';
import { type DeadlineOutlook, deadlineOutlook, forecastEnd, openTime } from '../schedule/outlook.js';
import { createOpeningHours, type OpeningHours } from '../schedule/time-window.js';
import { queueHints } from './queue-hints.js';

interface ReportParts {
  database: Database;
  /** Without it, or while it is unavailable, what is fetched and what is queued is not told apart from what waits. */
  queue?: Pick<QueueReader, 'look'> | undefined;
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
  | 'fork-unknown'
  | 'queued'
  | 'behind'
  | 'planned'
  | 'quarantined'
  | 'packing'
  | 'not-final';

interface RangeWait {
  reason: WaitReason;
  /** When it ends, if that is known. */
  until: Date | null;
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

/** How far a wanted range is, and what it waits for. */
export interface RangeReport {
  range: WantedRange;
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
  waits: RangeWait[];
}

/** Final blocks in these states are not fetched yet. */
const TO_FETCH: readonly HoleReason[] = [
  ...(['waiting', 'held-back', 'halted', 'queued', 'fetching', 'quarantined'] as const),
  ...(['paused', 'cancelled', 'not-wanted'] as const),
];
/** It goes on only after somebody did something. */
const STANDS_STILL: readonly WaitReason[] = ['paused', 'cancelled', 'max-requests', 'halted', 'no-ingester'];
/** A rate over less is not told, in milliseconds. */
const SHORTEST_MS = 60_000;

/** Reads how far a range is. */
export async function rangeReport(
  { database: all, queue }: ReportParts,
  range: WantedRange,
): Promise<RangeReport> {
  const database = all.network(range.network);
  const hours = createOpeningHours();
  const [head, hints, spending] = await Promise.all([
    database.head.get(),
    queueHints(queue, range.network),
    all.spending.ofRange(range.id),
  ]);
  const end = range.end ?? Math.max(range.start, head?.number ?? range.start);
  const kinds = await database.holes.count({
    kinds: range.kinds,
    range: { start: range.start, end },
    hints: hints ?? undefined,
  });
  const most = (reasons: readonly HoleReason[]): number =>
    Math.max(...kinds.map(({ missing }) => reasons.reduce((sum, reason) => sum + (missing[reason] ?? 0), 0)));
  const pace = await database.wanted.pace(range, range.createdAt);
  const now = pace.now.getTime();
  const blocksLeft = most(TO_FETCH);
  const rate = await rateOf(database, { range, hours, pace, staged: most(['staged', 'packing']) });
  const work = { hours, windows: range.windows, blocks: blocksLeft, rate: rate?.blocksPerSecond ?? null };
  const waits = await waitsOf({ database, all, hours, hints, now }, range, spending.requests, most);
  const stands = waits.some(({ reason }) => STANDS_STILL.includes(reason)) && blocksLeft > 0;
  const again = Math.max(
    now,
    ...waits.map(({ reason, until }) => (reason === 'budget' ? Number(until) : now)),
  );
  const done = range.end !== null && kinds.every(({ missing }) => Object.keys(missing).length === 0);
  return {
    range,
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
async function rateOf(
  database: NetworkDatabase,
  {
    range,
    hours,
    pace,
    staged,
  }: {
    range: WantedRange;
    hours: OpeningHours;
    pace: Awaited<ReturnType<NetworkDatabase['wanted']['pace']>>;
    staged: number;
  },
): Promise<Rate | null> {
  const rate = (blocks: number, ms: number, of: Rate['of']): Rate | null =>
    blocks > 0 && ms >= SHORTEST_MS ? { blocksPerSecond: (blocks * 1_000) / ms, of } : null;
  const open = openTime(hours, range.windows, pace.from.getTime(), pace.now.getTime());
  const own = rate(pace.blocks + staged, open, 'backfill');
  if (own !== null) return own;
  const { blocks, first, now } = await database.wanted.pace(
    { kinds: range.kinds, start: 0, end: null },
    null,
  );
  return first === null ? null : rate(blocks, now.getTime() - first.getTime(), 'network');
}

interface WaitParts {
  database: NetworkDatabase;
  all: Database;
  hours: OpeningHours;
  hints: QueueHints | null;
  now: number;
}

async function waitsOf(
  { database, all, hours, hints, now }: WaitParts,
  range: WantedRange,
  requests: number,
  most: (reasons: readonly HoleReason[]) => number,
): Promise<RangeWait[]> {
  const waits: RangeWait[] = [];
  const add = (reason: WaitReason, until: Date | null = null, more: object = {}): void => {
    waits.push({ reason, until, ...more });
  };
  if (range.state !== 'active') add(range.state);
  const opening = hours.at(range.windows, now);
  if (!opening.open) add('window-closed', opening.until === null ? null : new Date(opening.until));
  if (range.maxRequests !== null && requests >= range.maxRequests) add('max-requests');
  const [head, alarms, pressure, fork, slots, budgets] = await Promise.all([
    database.head.get(),
    database.alarms.list(),
    database.pressure.get(),
    unknownFork(database),
    all.workers.slots(range.network),
    all.budgets.waits(),
  ]);
  if (head === null) add('no-head');
  if (alarms.some(({ name }) => name === FINALITY_ALARM)) add('halted');
  if (pressure !== null && most(['held-back']) > 0) add('staging-full');
  const budget = budgets.find(({ network }) => network === range.network);
  if (budget !== undefined && most(TO_FETCH) > 0) add('budget', budget.until, { provider: budget.provider });
  if (slots === 0) add('no-ingester');
  if (fork !== null && (range.end ?? Number.POSITIVE_INFINITY) > fork.end) add('fork-unknown', fork.nextTry);
  if (waits.length > 0 || most(['fetching']) > 0) return waits;
  if (most(['queued']) > 0) add('queued');
  else if (most(['waiting']) > 0) {
    const first = firstInQueue(await database.wanted.open(), range, hints);
    if (first === undefined) add('planned');
    else add('behind', null, { behind: first.id });
  } else if (most(['quarantined']) > 0) {
    const rows = await database.quarantine.within({
      start: range.start,
      end: range.end ?? Number.MAX_SAFE_INTEGER,
    });
    add('quarantined', new Date(Math.min(...rows.map(({ nextTry }) => nextTry.getTime()))));
  } else if (most(['staged', 'packing']) > 0) add('packing');
  else add('not-final');
  return waits;
}

/** The first range of a higher priority of which a window is in the queue. */
function firstInQueue(
  open: readonly OpenRange[],
  { priority }: WantedRange,
  hints: QueueHints | null,
): OpenRange | undefined {
  return open.find(
    (range) =>
      range.priority < priority &&
      hints?.windows.some(
        ({ start, end, kinds }) =>
          start <= (range.end ?? Number.POSITIVE_INFINITY) &&
          end >= range.start &&
          kinds.some((kind) => range.kinds.includes(kind)),
      ),
  );
}
