import type { Estimate, Quote } from '@packhouse/pipeline';
import { counted, formatBytes, formatCount, formatDuration } from '../terminal/format.js';
import { table } from '../terminal/io.js';

/** A quote as text. `blocksPerSecond`: what ingesters fetch today; null if unknown. */
export function quoteLines(made: Quote, blocksPerSecond: number | null): string {
  const { asked, blocks, cost, head, lacking, network, range } = made;
  const order = `${network} ${range.start} to ${range.end}`;
  const offered =
    lacking.length === 0
      ? []
      : [`No node offers ${lacking.join(' and ')} of ${network} with the rest: left out of this quote.`, ''];
  const standing = table([
    ['KIND', 'PUBLISHED', 'STAGED', 'ORDERED', 'MISSING', 'TEXT', 'STORED'],
    ...made.standing.map(({ kind, published, staged, ordered, missing }) => {
      const sizes = cost?.kinds.find((each) => each.kind === kind);
      const bytes = sizes === undefined ? ['-', '-'] : [sizes.raw, sizes.stored].map(bytesOf);
      return [kind, ...[published, staged, ordered, missing].map(formatCount), ...bytes];
    }),
  ]);
  if (cost === null) {
    return [
      ...offered,
      `Nothing is missing of ${order}: all is published, staged or ordered.`,
      '',
      standing,
    ].join('\n');
  }
  const calls = table([
    ['UPSTREAM', 'METHOD', 'REQUESTS', 'HTTP REQUESTS', 'BYTES IN'],
    ...cost.calls.map(({ upstream, method, requests, httpRequests, bytes }) => [
      upstream,
      method,
      countOf(requests),
      formatCount(httpRequests),
      bytesOf(bytes),
    ]),
  ]);
  const today = blocksPerSecond === null ? null : blocks / blocksPerSecond;
  const totals = table([
    ['Requests', countOf(cost.requests)],
    ['Bytes in', bytesOf(cost.bytesIn)],
    ['Bytes stored', bytesOf(cost.bytesStored)],
    ...cost.providers.flatMap(({ provider, units, price, currency }) => [
      [`Units at ${provider}`, countOf(units)],
      ...(price === null ? [] : [[`Price at ${provider}`, priceOf(price, currency)]]),
    ]),
    ['Peak of staging', formatBytes(cost.stagingPeak)],
    ["Time at the nodes' limits", formatDuration(cost.nodeSeconds)],
    [
      "Time at today's rate",
      today === null
        ? 'unknown: no ingester of this network is at work'
        : `${formatDuration(today)} (${blocksPerSecond?.toFixed(1)} blocks/s)`,
    ],
  ]);
  const sample = `From ${counted(asked.sample.length, 'sample block')} and ${counted(asked.calls, 'node call')}; the true figure is within the brackets in nine cases of ten.`;
  return [
    ...offered,
    `${order}: ${counted(blocks, 'block')} to fetch; the head is ${head}.`,
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

const countOf = (estimate: Estimate): string =>
  withInterval(estimate, (count) => formatCount(Math.round(count)));
const bytesOf = (estimate: Estimate): string => withInterval(estimate, formatBytes);

const priceOf = (estimate: Estimate, currency: string | null): string =>
  withInterval(estimate, (price) => `${price.toFixed(2)} ${currency ?? ''}`.trimEnd());

/** `1,000 (900-1,100)`; without brackets if it is exact. */
function withInterval({ value, low, high }: Estimate, format: (number: number) => string): string {
  return low === high ? format(value) : `${format(value)} (${format(low)} - ${format(high)})`;
}
