import type { Metrics } from '@packhouse/runtime';
import { createBoundedLabel } from './bounded-label.js';
import type { Visit } from './visit.js';

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What was counted of visits that are alike since the metrics were last rendered. */
interface Tally {
  labels: { route: string; network: string; kind: string };
  status: number;
  key: string;
  requests: number;
  bytes: number;
  seconds: number;
  /** By bucket; the last one has no bound. */
  buckets: number[];
}

/** Counts a visit that ended. */
export type CountVisit = (visit: Visit, status: number, seconds: number, bytes: number) => void;

/**
 * Makes the counters of visits. A visit adds to a tally, and tallies go into the metrics when these are rendered:
 * four metrics a request cost a tenth of a pointer otherwise, half of it prom-client's histogram, which finds
 * its buckets by the decimal text of their bounds. The histogram is written out as its three series.
 */
export function createVisitMetrics(metrics: Metrics): CountVisit {
  const tallies = new Map<string, Tally>();
  /** Most visits are like the one before: then no name is put together. */
  let last: Tally | undefined;
  const place = ['route', 'network', 'kind'] as const;
  const requests = metrics.counter('packhouse_gateway_requests_total', 'Requests answered.', [
    ...place,
    'status',
    'key',
  ]);
  const sent = metrics.counter('packhouse_gateway_sent_bytes_total', 'Bytes of bodies sent.', place);
  const name = 'packhouse_gateway_request_seconds';
  const help = 'Time from the arrival of a request to the end of its answer';
  const buckets = metrics.counter(`${name}_bucket`, `${help}: requests up to le seconds.`, [...place, 'le']);
  const sums = metrics.counter(`${name}_sum`, `${help}: seconds in all.`, place);
  const counts = metrics.counter(`${name}_count`, `${help}: requests.`, place);

  // prom-client calls it before it reads the first of these counters, whoever renders them.
  Object.assign(requests, {
    collect: () => {
      for (const { labels, status, key, ...tally } of tallies.values()) {
        requests.inc({ ...labels, status, key }, tally.requests);
        sent.inc(labels, tally.bytes);
        sums.inc(labels, tally.seconds);
        counts.inc(labels, tally.requests);
        let upTo = 0;
        for (const [at, inBucket] of tally.buckets.entries()) {
          upTo += inBucket;
          buckets.inc({ ...labels, le: BOUNDS[at] ?? '+Inf' }, upTo);
        }
      }
      tallies.clear();
      last = undefined;
    },
  });

  const keyLabel = createBoundedLabel();
  const tallyOf = ({ route, network, kind }: Visit, status: number, key: string): Tally => {
    if (last !== undefined && last.status === status && last.key === key) {
      const { labels } = last;
      if (labels.route === route && labels.network === network && labels.kind === kind) return last;
    }
    const alike = `${route} ${network} ${kind} ${status} ${key}`;
    last = tallies.get(alike);
    if (last === undefined) {
      last = {
        labels: { route, network, kind },
        status,
        key,
        requests: 0,
        bytes: 0,
        seconds: 0,
        buckets: new Array<number>(BOUNDS.length + 1).fill(0),
      };
      tallies.set(alike, last);
    }
    return last;
  };
  return (visit, status, seconds, bytes) => {
    const tally = tallyOf(visit, status, keyLabel(visit.prefix));
    tally.requests += 1;
    tally.bytes += bytes;
    tally.seconds += seconds;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket += 1;
    (tally.buckets[bucket] as number) += 1;
  };
}
