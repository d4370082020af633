import type { Estimate, Quote } from '@packhouse/pipeline';
import { counted, formatBytes, formatCount, formatDuration } from '../../terminal/format.js';
import { table } from '../../terminal/table.js';

/** A quote as text. `blocksPerSecond`: what ingesters fetch today; null if unknown. */
export function quoteLines(made: Quote, blocksPerSecond: number | null): string {
  const { asked, blocks, cost, head, lacking, network, range } = made;
  const blockRange = `${network} ${range.firstBlock} to ${range.lastBlock}`;
  const offered =
    lacking.length === 0
      ? []
      : [`No node offers ${lacking.join(' and ')} of ${network} with the rest. Left out of this quote.`, ''];
  const standing = table([
    ['KIND', 'PUBLISHED', 'STAGED', 'REQUESTED', 'MISSING', 'RAW', 'STORED'],
    ...made.standing.map(({ kind, published, staged, ordered, missing }) => {
      const sizes = cost?.kinds.find((each) => each.kind === kind);
      const bytes = sizes === undefined ? ['-', '-'] : [sizes.raw, sizes.stored].map(toBytes);
      return [kind, ...[published, staged, ordered, missing].map(formatCount), ...bytes];
    }),
  ]);
  if (cost === null) {
    return [
      ...offered,
      `${blockRange}: no missing blocks; all are published, staged or requested.`,
      '',
      standing,
    ].join('\n');
  }
  const calls = table([
    ['UPSTREAM', 'METHOD', 'REQUESTS', 'HTTP REQUESTS', 'BYTES IN'],
    ...cost.calls.map(({ upstream, method, requests, httpRequests, bytes }) => [
      upstream,
      method,
      getCount(requests),
      formatCount(httpRequests),
      toBytes(bytes),
    ]),
  ]);
  const seconds = blocksPerSecond === null ? null : blocks / blocksPerSecond;
  const totals = table([
    ['Requests', getCount(cost.requests)],
    ['Bytes in', toBytes(cost.bytesIn)],
    ['Bytes stored', toBytes(cost.bytesStored)],
    ...cost.providers.flatMap(({ provider, units, price, currency }) => [
      [`Units at ${provider}`, getCount(units)],
      ...(price === null ? [] : [[`Price at ${provider}`, getPrice(price, currency)]]),
    ]),
    ['Staging peak', formatBytes(cost.stagingPeak)],
    ['Time at the limits of the nodes', formatDuration(cost.nodeSeconds)],
    [
      'Time at the current rate',
      seconds === null
        ? 'unknown: no ingester of this network is active'
        : `${formatDuration(seconds)} (${blocksPerSecond?.toFixed(1)} blocks/s)`,
    ],
  ]);
  const sample = `Estimated from ${counted(asked.sample.length, 'sample block')} and ${counted(asked.calls, 'request')}. Brackets: 90% confidence interval.`;
  return [
    ...offered,
    `${blockRange}: ${counted(blocks, 'block')} to fetch; head ${head}.`,
    '',
    standing,
    '',
    calls,
    '',
    totals,
    '',
    sample,
  ].join('\n');
}

const getCount = (estimate: Estimate): string =>
  withInterval(estimate, (count) => formatCount(Math.round(count)));
const toBytes = (estimate: Estimate): string => withInterval(estimate, formatBytes);

const getPrice = (estimate: Estimate, currency: string | null): string =>
  withInterval(estimate, (price) => `${price.toFixed(2)} ${currency ?? ''}`.trimEnd());

/** `1,000 (900-1,100)`; without brackets if it is exact. */
function withInterval({ value, low, high }: Estimate, format: (number: number) => string): string {
  return low === high ? format(value) : `${format(value)} (${format(low)} - ${format(high)})`;
}
