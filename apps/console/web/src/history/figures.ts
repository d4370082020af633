import type { Answer } from '../lib/answers.js';
import { formatBytes, formatCount, formatDuration, formatRate } from '../lib/format.js';

/** What curves are of; nothing: the installation. */
export interface CurveOf {
  network?: string;
  upstream?: string;
  provider?: string;
  key?: string;
  /** The key that signed in. */
  own?: true;
}

interface Figure {
  label: string;
  /** Of the values in CSV. */
  unit: string;
  format: (value: number) => string;
}

const perSecond = (noun: string): Pick<Figure, 'unit' | 'format'> => ({
  unit: `${noun} per second`,
  format: (value) => `${formatRate(value)} ${noun}/s`,
});
const bytesPerSecond = {
  unit: 'bytes per second',
  format: (value: number) => `${formatBytes(value)}/s`,
};
const bytes = { unit: 'bytes', format: formatBytes };
const count = (unit: string): Pick<Figure, 'unit' | 'format'> => ({
  unit,
  format: (value) => formatCount(Math.round(value * 10) / 10),
});

/** How each figure is called and written. */
export const FIGURES: Readonly<Record<string, Figure>> = {
  blocks: { label: 'Published blocks', ...perSecond('blocks') },
  bytes: { label: 'Bytes', ...bytesPerSecond },
  calls: { label: 'Calls', ...perSecond('calls') },
  downloads: { label: 'Downloads', ...perSecond('downloads') },
  errors: { label: 'Errors', ...perSecond('errors') },
  callErrors: { label: 'Client errors', ...perSecond('errors') },
  callUnits: { label: 'Client units', ...perSecond('units') },
  nodeCalls: { label: 'Calls to nodes', ...perSecond('calls') },
  nodeErrors: { label: 'Node errors', ...perSecond('errors') },
  requests: { label: 'Requests', ...perSecond('requests') },
  units: { label: 'Units', ...perSecond('units') },
  cost: {
    label: 'Cost',
    unit: 'currency of the budget per second',
    format: (value) => `${Number((value * 3_600).toPrecision(3))} per hour`,
  },
  stagingBytes: { label: 'Staging', ...bytes },
  queueWaiting: { label: 'Waiting jobs', ...count('jobs') },
  queueActive: { label: 'Running jobs', ...count('jobs') },
  quarantined: { label: 'Quarantined blocks', ...count('blocks') },
  alarms: { label: 'Open alarms', ...count('alarms') },
  networks: { label: 'Networks', ...count('networks') },
  bundles: { label: 'Bundles', ...count('bundles') },
  storedBytes: { label: 'Stored', ...bytes },
  headLag: { label: 'Behind the head', ...count('blocks') },
  finalizedLag: { label: 'Behind finalized', ...count('blocks') },
  lag: { label: 'Behind the highest node', ...count('blocks') },
  latencyMs: {
    label: 'Latency',
    unit: 'milliseconds',
    format: (value) => `${formatCount(Math.round(value))} ms`,
  },
};

const RANGES = {
  '1h': 'hour',
  '6h': '6 hours',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '365d': 'year',
};

/** Ranges that can be chosen, with their labels. */
export const RANGE_OPTIONS = Object.entries(RANGES);

/** The title of a curve's window. */
export const describeOf = ({ network, upstream, provider, key, own }: CurveOf): string =>
  upstream ?? network ?? provider ?? key ?? (own === true ? 'Your key' : 'Installation');

export type Mark = Answer<'history'>['marks'][number];

const MARKS: Readonly<Record<Mark['kind'], [label: string, tone: 'bad' | 'wait' | 'good' | 'accent']>> = {
  deploy: ['Deploy', 'accent'],
  'alarm-begin': ['Alarm', 'bad'],
  'alarm-end': ['Alarm ended', 'good'],
  drain: ['Drained', 'wait'],
  resume: ['Resumed', 'good'],
  cordon: ['Cordoned', 'wait'],
  uncordon: ['Uncordoned', 'good'],
  'quarantine-begin': ['Quarantine', 'bad'],
  'quarantine-end': ['Quarantine ended', 'good'],
  'backfill-begin': ['Backfill added', 'accent'],
  'backfill-end': ['Backfill ended', 'good'],
};

export const getMarkTone = ({ kind }: Mark): string => MARKS[kind][1];

/** What happened, in a line. */
export function describeMark({ kind, network, subject, message }: Mark): string {
  const named = kind === 'deploy' || subject === 'quarantine' ? message : `${subject}: ${message}`;
  return `${MARKS[kind][0]}${network === null ? '' : ` (${network})`}: ${named}`;
}

/** `10 min`, of a point of a curve. */
export const formatStep = (seconds: number): string =>
  formatDuration(seconds * 1_000).replace(/ 0 (s|min)$/, '');
