import type { Backfill, Database, HoleCounts, HoleReason, Pace, WaitingFacts } from '@packhouse/database';
import {
  createOpeningHours,
  type DeadlineOutlook,
  deadlineOutlook,
  FINALITY_ALARM,
  FORK_ALARM,
  forecastEnd,
  type OpeningHours,
  openTime,
  requestsPerBlock,
} from '@packhouse/pipeline';
import type { QueueReader } from '@packhouse/queue';
import { TO_FETCH } from './hole-reasons.js';
import { queueHintsOf } from './queue-hints.js';
import { findSilences } from './silent-nodes.js';

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
export async function getBackfillProgress(parts: ReportParts, range: Backfill): Promise<BackfillProgress> {
  const [progress] = await readBackfillProgress(parts, [range]);
  return progress as BackfillProgress;
}

/** Reads how far ranges are, in about ten statements, however many they and their networks are. */
export async function readBackfillProgress(
  parts: ReportParts,
  ranges: readonly Backfill[],
): Promise<BackfillProgress[]> {
  if (ranges.length === 0) return [];
  const { database, queue } = parts;
  const { backfills } = database;
  const networks = [...new Set(ranges.map(({ network }) => network))];
  const ids = ranges.map(({ id }) => id);
  const [facts, hints, silences, seen, spent, paces] = await Promise.all([
    backfills.facts(networks, { alarm: FINALITY_ALARM, cause: FORK_ALARM }),
    queueHintsOf(queue, networks),
    findSilences(database, networks),
    database.workers.ingesterSeen(),
    database.spending.ofBackfills(ids),
    readRates(database, ranges),
  ]);
  const wanted = ranges.map(({ network, kinds, from: firstBlock, to }) => {
    const lastBlock = to ?? Math.max(firstBlock, facts.get(network)?.head ?? firstBlock);
    return { network, kinds, range: { firstBlock, lastBlock } };
  });
  const queued = hints ?? new Map();
  const [counts, first, quarantined] = await Promise.all([
    backfills.counts(wanted, queued),
    backfills.firstQueued(queued),
    backfills.quarantined(ids),
  ]);
  const hours = createOpeningHours();
  return ranges.map((range, at) =>
    toProgress(range, {
      facts: facts.get(range.network) ?? UNKNOWN,
      kinds: counts[at] as HoleCounts[],
      silence: silences.get(range.network) ?? null,
      ingesterSeen: seen.get(range.network) ?? null,
      requests: spent.get(range.id)?.requests ?? 0,
      paces: paces[at] as Paces,
      first: first.get(range.network),
      quarantine: quarantined.get(range.id),
      hours,
    }),
  );
}

/** Of a network that was never registered. */
const UNKNOWN: WaitingFacts = {
  head: null,
  fullSince: null,
  haltedAt: null,
  fork: null,
  budget: null,
  slots: 0,
};

/** Of the blocks of a range, and of all blocks of its kinds. */
interface Paces {
  own: Pace;
  all: Pace;
}

async function readRates({ backfills }: Database, ranges: readonly Backfill[]): Promise<Paces[]> {
  const key = ({ network, kinds }: Backfill): string => JSON.stringify([network, kinds]);
  const all = new Map(
    ranges.map((range) => [key(range), { ...range, from: 0, to: null, since: null }] as const),
  );
  const paces = await backfills.paces([
    ...ranges.map((range) => ({ ...range, since: range.createdAt })),
    ...all.values(),
  ]);
  const keys = [...all.keys()];
  return ranges.map((range, at) => {
    return { own: paces[at] as Pace, all: paces[ranges.length + keys.indexOf(key(range))] as Pace };
  });
}

/** What the progress of a range is made of. */
interface Known {
  facts: WaitingFacts;
  kinds: HoleCounts[];
  silence: { since: Date } | null;
  /** When an ingester of its network was last seen; null: there was none. */
  ingesterSeen: Date | null;
  requests: number;
  paces: Paces;
  /** Of its network, the open backfill that is worked on first among those with a block in the queue. */
  first: { id: number; priority: number } | undefined;
  /** Of its blocks in quarantine; undefined: there are none. */
  quarantine: { firstSeen: Date; nextTry: Date } | undefined;
  hours: OpeningHours;
}

function toProgress(range: Backfill, known: Known): BackfillProgress {
  const { hours, kinds, paces, requests } = known;
  const most = (reasons: readonly HoleReason[]): number =>
    Math.max(...kinds.map(({ missing }) => reasons.reduce((sum, reason) => sum + (missing[reason] ?? 0), 0)));
  const now = paces.own.now.getTime();
  const blocksLeft = most(TO_FETCH);
  const rate = getRate(range, paces, hours, most(['staged', 'packing']));
  const work = { hours, windows: range.windows, blocks: blocksLeft, rate: rate?.blocksPerSecond ?? null };
  const waits = getWaits(range, known, now, most);
  const stands = waits.some(({ reason }) => STANDS_STILL.includes(reason)) && blocksLeft > 0;
  const again = Math.max(
    now,
    ...waits.map(({ reason, until }) => (reason === 'budget' ? Number(until) : now)),
  );
  const done = range.to !== null && kinds.every(({ missing }) => Object.keys(missing).length === 0);
  return {
    backfill: range,
    at: paces.own.now,
    kinds,
    blocksLeft,
    requests,
    rate,
    forecast: stands ? null : forecastEnd(work, again),
    deadline: range.deadline === null || done ? null : deadlineOutlook(work, range.deadline, now),
    state: done ? 'done' : most(['fetching']) > 0 ? 'fetching' : 'waiting',
    waits: done ? [] : waits,
  };
}

/** The rate of the last day. */
function getRate(
  { windows }: Backfill,
  { own, all }: Paces,
  hours: OpeningHours,
  staged: number,
): Rate | null {
  const rate = (blocks: number, ms: number, of: Rate['of']): Rate | null =>
    blocks > 0 && ms >= MIN_MS ? { blocksPerSecond: (blocks * 1_000) / ms, of } : null;
  const open = openTime(hours, windows, own.from.getTime(), own.now.getTime());
  const ofRange = rate(own.blocks + staged, open, 'backfill');
  if (ofRange !== null || all.first === null) return ofRange;
  return rate(all.blocks, all.now.getTime() - all.first.getTime(), 'network');
}

function getWaits(
  range: Backfill,
  { facts, first, hours, ingesterSeen, quarantine, requests, silence }: Known,
  now: number,
  most: (reasons: readonly HoleReason[]) => number,
): BackfillWait[] {
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
  const { budget, fork, fullSince, haltedAt, head, slots } = facts;
  if (silence !== null) add('nodes-silent', null, { since: silence.since });
  if (head === null) add('no-head', null, { since: createdAt });
  if (haltedAt !== null) add('halted', null, { since: haltedAt });
  if (fullSince !== null && most(['throttled']) > 0) add('staging-full', null, { since: fullSince });
  if (budget !== null && most(TO_FETCH) > 0) {
    const { provider, since, until } = budget;
    add('budget', until, { provider, since });
  }
  if (slots === 0) add('no-ingester', null, { since: ingesterSeen ?? createdAt });
  if (fork !== null && (range.to ?? Number.POSITIVE_INFINITY) > fork.lastBlock)
    add('fork-unknown', fork.nextTry, { since: fork.firstSeen });
  if (waits.length > 0 || most(['fetching']) > 0) return waits;
  if (most(['queued']) > 0) add('queued');
  else if (most(['waiting']) > 0) {
    if (first !== undefined && first.priority < range.priority) add('behind', null, { behind: first.id });
    else add('planned');
  } else if (most(['quarantined']) > 0)
    add('quarantined', quarantine?.nextTry, quarantine && { since: quarantine.firstSeen });
  else if (most(['staged', 'packing']) > 0) add('packing');
  else add('not-final');
  return waits;
}
