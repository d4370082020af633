import type { Change } from '@packhouse/database';
import type { BackfillReport } from '@packhouse/operations';
import type { RangeReport } from '@packhouse/pipeline';
import { formatCount } from '../terminal/format.js';
import { table } from '../terminal/io.js';
import { describeTermChange, describeTerms } from './backfill-terms.js';

/** A backfill as text: how far it is, what it waits for, and who changed it. */
export function backfillLines({
  history,
  ...report
}: BackfillReport & { history: readonly Change[] }): string {
  return [...reportLines(report), '', historyTable(history)].join('\n');
}

function reportLines(report: BackfillReport): string[] {
  const { range, kinds, rate, requests, state, waits } = report;
  const blocks =
    range.end === null ? `from ${range.start} on, following the head` : `${range.start} to ${range.end}`;
  const limit = range.maxRequests === null ? '' : ` of ${formatCount(range.maxRequests)}`;
  const deadline = deadlineLine(report);
  return [
    `Backfill ${range.id}: ${range.network} ${blocks}, ${range.kinds.join(', ')}.`,
    `Terms: ${describeTerms(range)}.`,
    state === 'done' ? 'Everything of it is published.' : `It is ${range.state}; ${NOW[state]}.`,
    ...waits.map(({ message }) => `Waits: ${message}`),
    ...(state === 'done' ? [] : [rateLine(rate), forecastLine(report)]),
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
  if (rate === null) return 'Rate: unknown, as less than a minute of work was seen in the last day.';
  const of = rate.of === 'backfill' ? 'this backfill' : `all of the network, as nothing of this one is there`;
  return `Rate: ${perSecond(rate.blocksPerSecond)} in the last day (${of}).`;
}

function forecastLine({ forecast, blocksLeft: left, kinds }: BackfillReport): string {
  const begun = kinds.some(
    ({ published, missing }) => published + (missing.staged ?? 0) + (missing.packing ?? 0) > 0,
  );
  if (left === 0)
    return `Forecast: ${begun ? 'all that is final is fetched' : 'unknown; nothing of it is final yet'}.`;
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
