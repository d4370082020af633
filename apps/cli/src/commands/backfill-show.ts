import type { Change, Database, WantedRange } from '@packhouse/database';
import { type RangeReport, rangeReport, type WaitReason } from '@packhouse/pipeline';
import { withQueueReader } from '../installation/connect.js';
import { formatCount } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { describeTermChange, describeTerms } from './backfill-terms.js';

interface ShowOptions {
  json?: boolean;
  dataDir?: string;
}

/** Prints a backfill: how far it is, what it waits for, and who changed it. */
export async function showBackfill(
  io: CliIo,
  database: Database,
  range: WantedRange,
  options: ShowOptions,
): Promise<void> {
  const report = await reportOf(io, database, range, options);
  const history = await database.changes.list({ subject: `backfill ${range.id}` });
  if (options.json) await print(io, { ...report, waits: report.waits.map(withMessage), history });
  else await print(io, [...reportLines(report), '', historyTable(history)].join('\n'));
}

/** The line about its deadline; null: it has none. */
export async function deadlineOf(
  io: CliIo,
  database: Database,
  range: WantedRange,
  options: ShowOptions,
): Promise<string | null> {
  if (range.deadline === null) return null;
  return deadlineLine(await reportOf(io, database, range, options));
}

function reportOf(
  io: CliIo,
  database: Database,
  range: WantedRange,
  options: ShowOptions,
): Promise<RangeReport> {
  return withQueueReader(io, options, (queue) => rangeReport({ database, queue }, range));
}

function reportLines(report: RangeReport): string[] {
  const { range, kinds, rate, blocksLeft, forecast, requests, state, waits } = report;
  const blocks =
    range.end === null ? `from ${range.start} on, following the head` : `${range.start} to ${range.end}`;
  const limit = range.maxRequests === null ? '' : ` of ${formatCount(range.maxRequests)}`;
  const deadline = deadlineLine(report);
  return [
    `Backfill ${range.id}: ${range.network} ${blocks}, ${range.kinds.join(', ')}.`,
    `Terms: ${describeTerms(range)}.`,
    state === 'done' ? 'Everything of it is published.' : `It is ${range.state}; ${NOW[state]}.`,
    ...waits.map((wait) => `Waits: ${withMessage(wait).message}`),
    ...(state === 'done' ? [] : [rateLine(rate), forecastLine(forecast, blocksLeft)]),
    ...(deadline === null ? [] : [deadline]),
    `Requests to nodes: ${formatCount(requests)}${limit}.`,
    '',
    table([
      ['KIND', 'PUBLISHED', 'STAGED', 'TO FETCH', 'QUARANTINED', 'NOT FINAL'],
      ...kinds.map(({ kind, published, missing }) => {
        const {
          staged = 0,
          packing = 0,
          quarantined = 0,
          'not-finalized': open = 0,
          'beyond-head': beyond = 0,
          ...left
        } = missing;
        const toFetch = Object.values(left).reduce((sum, count) => sum + count, 0);
        return [kind, ...[published, staged + packing, toFetch, quarantined, open + beyond].map(formatCount)];
      }),
    ]),
  ];
}

const NOW = { fetching: 'blocks of it are fetched now', waiting: 'no block of it is fetched now' };

function rateLine(rate: RangeReport['rate']): string {
  if (rate === null) return 'Rate: unknown, as nothing of its kinds was published in the last day.';
  const of = rate.of === 'backfill' ? 'this backfill' : `all of the network, as nothing of this one is there`;
  return `Rate: ${perSecond(rate.blocksPerSecond)} in the last day (${of}).`;
}

function forecastLine(forecast: Date | null, left: number): string {
  if (left === 0) return 'Forecast: all that is final is fetched.';
  const blocks = `${formatCount(left)} final blocks to fetch`;
  return forecast === null
    ? `Forecast: unknown; ${blocks}.`
    : `Forecast: ${forecast.toISOString()}, at this rate and within its windows; ${blocks}.`;
}

/** Whether its deadline is kept, as one line; null: it has none, or is done. */
export function deadlineLine({
  deadline: outlook,
  range,
  rate,
}: Pick<RangeReport, 'deadline' | 'range' | 'rate'>): string | null {
  if (outlook === null) return null;
  const { deadline, standing, takes } = outlook;
  const at = `Backfill ${range.id}: its deadline ${deadline.toISOString()}`;
  const takesText = takes === null ? '' : perSecond(takes);
  const today = rate === null ? '' : perSecond(rate.blocksPerSecond);
  return {
    kept: `${at} is kept at today's rate.`,
    late: `${at} cannot be met at today's rate of ${today}: it takes ${takesText}.`,
    closed: `${at} cannot be met at any rate: its windows do not open before.`,
    missed: `${at} is missed.`,
    unknown: `${at} takes ${takesText}; today's rate is unknown.`,
  }[standing];
}

/** Rates as they are read: one that is needed is not rounded down to one that is not enough. */
function perSecond(rate: number): string {
  return `${rate < 10 ? rate.toPrecision(2) : Math.ceil(rate).toLocaleString('en-US')} blocks/s`;
}

type Wait = RangeReport['waits'][number];

function withMessage(wait: Wait): Wait & { message: string } {
  return { ...wait, message: MESSAGES[wait.reason](wait) };
}

const untilText = ({ until }: Wait): string => (until === null ? '' : ` until ${until.toISOString()}`);

const MESSAGES: Readonly<Record<WaitReason, (wait: Wait) => string>> = {
  paused: () => 'it is paused; `packhouse backfill resume` continues it.',
  cancelled: () => 'it is cancelled.',
  'no-head': () => 'no head of the network is known yet: no ingester reached a node.',
  'window-closed': (wait) =>
    wait.until === null
      ? 'its windows cannot be read here; `packhouse backfill set` replaces them.'
      : `its windows are closed${untilText(wait)}.`,
  'max-requests': () =>
    'it sent as many requests as it may; `packhouse backfill set --max-requests` allows more.',
  budget: (wait) =>
    `the budget of ${wait.provider} is used up for backfills${untilText(wait)}; see \`packhouse budget list\`.`,
  halted: () => 'the chain differs below finality; see `packhouse alarms list`.',
  'staging-full': () => 'staging is full: fetching waits for packing.',
  'no-ingester': () => 'no ingester of the network was seen in the last 15 s, or all drain.',
  'fork-unknown': (wait) =>
    `the rules of a fork are not known; one block is tried again${untilText(wait)}.`.replace(
      ' until ',
      ' at ',
    ),
  queued: () => 'its next blocks are in the queue, behind those that run.',
  behind: ({ behind }) => `backfill ${behind} has a higher priority.`,
  planned: () => 'its next blocks are planned within seconds.',
  quarantined: (wait) =>
    `all that is left is in quarantine${untilText(wait)}; see \`packhouse quarantine list\`.`,
  packing: () => 'all is fetched; what is staged waits for packing, or for the blocks that fill its bundle.',
  'not-final': () => 'what is left is not final yet.',
};

function historyTable(history: readonly Change[]): string {
  if (history.length === 0) return 'No change of it is noted.';
  return table([
    ['AT', 'WHO', 'ACTION', 'CHANGE'],
    ...history.map(({ at, who, action, before, after }) => [
      at.toISOString(),
      who,
      action,
      (before !== null && after !== null && describeTermChange(before, after)) || '-',
    ]),
  ]);
}
