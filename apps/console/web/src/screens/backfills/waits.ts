import type { WaitReason } from '@packhouse/report';
import { formatCount, formatTime } from '../../lib/format.js';
import { toHref } from '../../lib/route.js';
import type { BackfillReport, Range } from './backfill-parts.js';

type Wait = BackfillReport['waits'][number];

/** What a backfill is at: a few words, the cause, and where it is mended. */
interface Condition {
  tone: 'good' | 'wait' | 'bad' | 'info' | 'off';
  words: string;
  /** null: the words say it all. */
  why: string | null;
  since: string | null;
  until: string | null;
  cure: { label: string; href: string } | null;
}

type Entry = Pick<Condition, 'tone' | 'words'> & {
  why?: (wait: Wait, range: Range) => string;
  cure?: (network: string, wait: Wait, id: number) => Condition['cure'];
};

const nodes = (network: string) => ({ label: 'View nodes', href: toHref('nodes', { network }) });
const workers = () => ({ label: 'View workers', href: toHref('workers') });

/** Who stopped it, and why, as a sentence. */
const describeStop = (did: string, { stopped }: Range): string =>
  stopped === null || stopped === undefined
    ? `${did}.`
    : `${did} by ${stopped.actor}${stopped.reason === null ? '.' : `: ${stopped.reason}`}`;

export const WAITS: Readonly<Record<WaitReason, Entry>> = {
  paused: { tone: 'wait', words: 'Paused', why: (_, range) => describeStop('Paused', range) },
  cancelled: { tone: 'off', words: 'Cancelled', why: (_, range) => describeStop('Cancelled', range) },
  'nodes-silent': {
    tone: 'bad',
    words: 'No node answers',
    why: ({ since }, { network }) =>
      `No node of ${network} has answered${since ? ` since ${formatTime(since)}` : ''}.`,
    cure: nodes,
  },
  'no-head': {
    tone: 'bad',
    words: 'Head unknown',
    why: () => 'No ingester has reached a node of this network yet.',
    cure: nodes,
  },
  'window-closed': {
    tone: 'wait',
    words: 'Outside time windows',
    why: ({ until }) => (until === null ? 'Its time windows are invalid.' : 'Its time windows are closed.'),
    cure: (_, __, id) => ({ label: 'Edit terms', href: toHref(`backfills/${id}`, { edit: 'terms' }) }),
  },
  'max-requests': {
    tone: 'wait',
    words: 'Request limit reached',
    why: (_, { maxRequests }) => `All ${formatCount(maxRequests ?? 0)} requests to nodes are used.`,
    cure: (_, __, id) => ({ label: 'Edit terms', href: toHref(`backfills/${id}`, { edit: 'terms' }) }),
  },
  budget: {
    tone: 'wait',
    words: 'Budget used up',
    why: ({ provider }) => `Throttled by the budget of ${provider}.`,
    cure: (_, { provider }) => ({ label: 'Edit budget', href: toHref('budgets', { provider }) }),
  },
  halted: {
    tone: 'bad',
    words: 'Halted',
    why: () => 'The chain changed below finality.',
    cure: (network) => ({ label: 'View alarms', href: toHref('alarms', { network }) }),
  },
  'staging-full': {
    tone: 'wait',
    words: 'Throttled (staging full)',
    why: () => 'Fetching waits for packing.',
    cure: workers,
  },
  'no-ingester': {
    tone: 'bad',
    words: 'No ingester',
    why: () => 'No ingester of this network is running, or all are draining.',
    cure: workers,
  },
  'fork-unknown': {
    tone: 'bad',
    words: 'Unknown fork',
    why: () => 'This version does not know the rules of a fork: update Packhouse.',
    cure: (network) => ({ label: 'View blocks', href: toHref('quarantine', { network }) }),
  },
  queued: { tone: 'info', words: 'Queued', why: () => 'Its next blocks are waiting for a worker.' },
  behind: {
    tone: 'info',
    words: 'Waiting',
    why: ({ behind }) => `Backfill ${behind} has a higher priority.`,
    cure: (_, { behind }) => ({ label: `View backfill ${behind}`, href: toHref(`backfills/${behind}`) }),
  },
  planned: { tone: 'info', words: 'Waiting', why: () => 'It takes turns with other backfills.' },
  quarantined: {
    tone: 'bad',
    words: 'In quarantine',
    why: () => 'All remaining blocks are quarantined.',
    cure: (network) => ({ label: 'View blocks', href: toHref('quarantine', { network }) }),
  },
  packing: { tone: 'info', words: 'Packing', why: () => 'All blocks are fetched and waiting to be packed.' },
  'not-final': { tone: 'good', words: 'At the head', why: () => 'What remains is not finalized yet.' },
};

/** What is no wait. */
export const ENDED = {
  active: { tone: 'info', words: 'Active' },
  done: { tone: 'good', words: 'Done' },
  fetching: { tone: 'info', words: 'Fetching' },
} as const satisfies Readonly<Record<string, Entry>>;

/** What a backfill is at, by its first wait; without a report only its state is known. */
export function getCondition(range: Range, report: BackfillReport | undefined): Condition {
  const none = { why: null, since: null, until: null, cure: null };
  if (range.state === 'cancelled' || (report === undefined && range.state === 'paused')) {
    const { tone, words } = WAITS[range.state];
    const since = range.stopped?.at ?? null;
    const did = range.state === 'paused' ? 'Paused' : 'Cancelled';
    return { tone, words, ...none, since, why: describeStop(did, range) };
  }
  if (report === undefined) return { ...ENDED.active, ...none };
  if (report.state === 'done') return { ...ENDED.done, ...none };
  const [wait] = report.waits;
  if (wait === undefined) return { ...ENDED.fetching, ...none };
  const known: Readonly<Record<string, Entry>> = WAITS;
  const entry = known[wait.reason] ?? { tone: 'wait', words: wait.reason };
  return {
    tone: entry.tone,
    words: entry.words,
    why: entry.why?.(wait, range) ?? null,
    since: wait.since ?? null,
    until: wait.until,
    cure: entry.cure?.(range.network, wait, range.id) ?? null,
  };
}
