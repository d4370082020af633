/**
 * What is sampled of each subject, in the order in which rows keep it. Rates are per second, means over the time since
 * the sample before; all others are as they were at the sample.
 */
export const HISTORY_FIGURES = {
  /** All together. */
  installation: [
    /** Published blocks of all kinds, and bytes. */
    'blocks',
    'bytes',
    /** Of all keys. */
    'calls',
    'downloads',
    'callErrors',
    'callUnits',
    /** To all nodes. */
    'nodeCalls',
    'nodeErrors',
    /** Of all providers; `cost` in the currency of their budgets. */
    'units',
    'cost',
    'stagingBytes',
    'queueWaiting',
    'queueActive',
    'quarantined',
    'alarms',
    'networks',
    'bundles',
    'storedBytes',
  ],
  network: [
    'blocks',
    'bytes',
    /** Blocks from the newest staged or published one to the head; null: the network is not followed. */
    'headLag',
    /** Blocks from the one through which it is complete to the finalized one; null: either is unknown. */
    'finalizedLag',
    'quarantined',
    'alarms',
  ],
  /** `busyMs` are milliseconds that answers took, per second: divided by `answers` it is the mean latency. */
  node: ['calls', 'errors', 'answers', 'busyMs', 'lag'],
  provider: ['requests', 'units', 'bytes', 'cost'],
  key: ['calls', 'downloads', 'errors', 'units', 'bytes'],
} as const;

export type HistorySubject = keyof typeof HISTORY_FIGURES;

/** Most series of each subject; all others are summed in one more. */
export const MAX_SERIES: Readonly<Record<HistorySubject, number>> = {
  installation: 1,
  network: 500,
  node: 1_500,
  provider: 200,
  key: 5_000,
};

/** Longest name of a series; one with a longer name is summed with the others. */
export const MAX_SERIES_NAME = 300;

/** The figures whose sum says nothing: the series of the others has none of them. */
export const NOT_SUMMED: ReadonlySet<string> = new Set(['headLag', 'finalizedLag', 'lag']);

/** Subjects that have no row for a minute in which they did nothing. */
export const SPARSE: readonly HistorySubject[] = ['provider', 'key'];

/** How long samples of minutes, and means of hours, are kept. */
export const MINUTE_HOURS = 7 * 24;
export const HOUR_DAYS = 366;
