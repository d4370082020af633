import type { Change } from '@packhouse/database';
import type { BackfillReport } from '@packhouse/operations';
import type { BackfillProgress } from '@packhouse/report';
import { formatCount } from '../../terminal/format.js';
import { table } from '../../terminal/table.js';
import { describeTermChange, describeTerms } from './terms.js';

/** A backfill as text: its progress, waits and history. */
export function backfillLines({
  history,
  ...report
}: BackfillReport & { history: readonly Change[] }): string {
  return [...reportLines(report), '', historyTable(history)].join('\n');
}

function reportLines(report: BackfillReport): string[] {
  const { backfill, kinds, rate, requests, state, waits } = report;
  const limit = backfill.maxRequests === null ? '' : ` of ${formatCount(backfill.maxRequests)}`;
  const deadline = deadlineLine(report);
  return [
    `Backfill ${backfill.id}: ${backfill.network} ${describeBlocks(backfill)}, ${backfill.kinds.join(', ')}.`,
    `Terms: ${describeTerms(backfill)}.`,
    `State: ${state === 'done' ? 'complete' : `${backfill.state}, ${state === 'fetching' ? 'fetching now' : 'not fetching now'}`}.`,
    ...waits.map(({ message }) => `Waiting: ${message}`),
    ...(state === 'done' ? [] : [rateLine(rate), forecastLine(report)]),
    ...(deadline === null ? [] : [deadline]),
    `Requests: ${formatCount(requests)}${limit}.`,
    '',
    table([
      ['KIND', 'PUBLISHED', 'STAGED', 'TO FETCH', 'QUARANTINED', 'NOT FINALIZED'],
      ...kinds.map(({ kind, published, missing }) => {
        const {
          staged = 0,
          packing = 0,
          quarantined = 0,
          'not-finalized': open = 0,
          'not-produced': beyond = 0,
          ...left
        } = missing;
        const toFetch = Object.values(left).reduce((sum, count) => sum + count, 0);
        return [kind, ...[published, staged + packing, toFetch, quarantined, open + beyond].map(formatCount)];
      }),
    ]),
  ];
}

/** `0 to 99`, or `from 0, following the head`. */
export function describeBlocks({ from, to }: { from: number; to: number | null }): string {
  return to === null ? `from ${from}, following the head` : `${from} to ${to}`;
}

function rateLine(rate: BackfillProgress['rate']): string {
  if (rate === null) return 'Rate: unknown (less than a minute of work in the last day).';
  const of = rate.of === 'backfill' ? 'this backfill' : 'all backfills of the network';
  return `Rate: ${perSecond(rate.blocksPerSecond)} in the last day (${of}).`;
}

function forecastLine({ forecast, blocksLeft: left, kinds }: BackfillReport): string {
  const begun = kinds.some(
    ({ published, missing }) => published + (missing.staged ?? 0) + (missing.packing ?? 0) > 0,
  );
  if (left === 0)
    return `ETA: ${begun ? 'all finalized blocks are fetched' : 'unknown; none of its blocks is finalized yet'}.`;
  const blocks = `${formatCount(left)} finalized blocks to fetch`;
  return forecast === null
    ? `ETA: unknown; ${blocks}.`
    : `ETA: ${forecast.toISOString()} at this rate; ${blocks}.`;
}

/** Whether its deadline can be met, as one line; null if it has none, or is done. */
export function deadlineLine({
  deadline: outlook,
  backfill,
  rate,
}: Pick<BackfillProgress, 'deadline' | 'backfill' | 'rate'>): string | null {
  if (outlook === null) return null;
  const { deadline, standing, takes } = outlook;
  const at = `Backfill ${backfill.id}: deadline ${deadline.toISOString()}`;
  const takesText = takes === null ? '' : perSecond(takes);
  const current = rate === null ? '' : perSecond(rate.blocksPerSecond);
  return {
    kept: `${at} will be met at the current rate.`,
    late: `${at} will be missed at the current rate of ${current}: it needs ${takesText}.`,
    closed: `${at} cannot be met: its windows do not open before.`,
    missed: `${at} was missed.`,
    unknown: `${at} needs ${takesText}; the current rate is unknown.`,
  }[standing];
}

/** A rate as text, never rounded down: a needed rate must be enough. */
function perSecond(rate: number): string {
  return `${rate < 10 ? rate.toPrecision(2) : Math.ceil(rate).toLocaleString('en-US')} blocks/s`;
}

function historyTable(history: readonly Change[]): string {
  if (history.length === 0) return 'No changes.';
  return table([
    ['AT', 'ACTOR', 'ACTION', 'CHANGE'],
    ...history.map(({ at, actor, action, before, after }) => [
      at.toISOString(),
      actor,
      action,
      (before !== null && after !== null && describeTermChange(before, after)) || '-',
    ]),
  ]);
}
