import type { Network } from '@packhouse/networks';
import { getOrAdd, type Metrics, type TallyCount, type TallyTimes } from '@packhouse/runtime';

const labels = ['network', 'upstream'];
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** The metrics of one upstream. */
export type UpstreamMetrics = ReturnType<ReturnType<typeof createUpstreamMetrics>>;

/** Registers the metrics of a network's upstreams; returns those of one by its name. */
export function createUpstreamMetrics(metrics: Metrics, network: string) {
  const requests = metrics.tallyCounter(
    'packhouse_upstream_requests_total',
    'JSON-RPC calls sent to upstreams, by outcome.',
    [...labels, 'method', 'outcome'],
  );
  const seconds = metrics.tallyHistogram(
    'packhouse_upstream_request_seconds',
    'Requests to upstreams, from sending to the last byte, or until a large answer begins to be passed on; each call of a batch counts',
    [...labels, 'method'],
    BUCKETS,
  );
  const received = metrics.counter(
    'packhouse_upstream_received_bytes_total',
    'Bytes of answers, after decoding.',
    labels,
  );
  const limit = metrics.gauge(
    'packhouse_upstream_in_flight_limit',
    'HTTP requests that may be in flight.',
    labels,
  );
  const invalid = metrics.counter(
    'packhouse_upstream_invalid_responses_total',
    'Blocks and answers that failed a proof.',
    [...labels, 'method'],
  );
  const head = metrics.gauge(
    'packhouse_upstream_head_block',
    'The highest block that an upstream reported.',
    labels,
    undefined,
    'max',
  );
  const healthy = metrics.gauge(
    'packhouse_upstream_healthy',
    '1 if an upstream is asked like any other, 0 if its circuit is open, or it failed a proof, is cordoned, on another branch or on another chain.',
    labels,
    undefined,
    'min',
  );
  const subscribed = metrics.gauge(
    'packhouse_upstream_subscribed',
    '1 if an upstream announces new heads over WebSocket, 0 if it is polled for them.',
    labels,
    undefined,
    'min',
  );
  const hedges = metrics.counter(
    'packhouse_upstream_hedges_total',
    'Second requests sent because the first was slow.',
    labels,
  );
  const batches = metrics.tallyCounter(
    'packhouse_upstream_batches_total',
    'Batches that calls of clients shared: ok, or sent again as single calls.',
    [...labels, 'outcome'],
  );
  return (upstream: string) => {
    const own = { network, upstream };
    // Looked up once: each forwarded call is counted.
    const counts = new Map<string, Map<string, TallyCount>>();
    const times = new Map<string, TallyTimes>();
    const batchCounts = new Map<string, TallyCount>();
    return {
      requests: (method: string, outcome: string, count: number): void => {
        const outcomes = getOrAdd(counts, method, () => new Map<string, TallyCount>());
        getOrAdd(outcomes, outcome, () => requests({ ...own, method, outcome })).add(count);
      },
      took: (method: string, value: number): void =>
        getOrAdd(times, method, () => seconds({ ...own, method })).observe(value),
      batched: (outcome: string): void =>
        getOrAdd(batchCounts, outcome, () => batches({ ...own, outcome })).add(1),
      received: (bytes: number): void => received.inc(own, bytes),
      inFlightLimit: (value: number): void => limit.set(own, value),
      invalidResponse: (method: string): void => invalid.inc({ ...own, method }),
      head: (number: number): void => head.set(own, number),
      healthy: (is: boolean): void => healthy.set(own, is ? 1 : 0),
      subscribed: (is: boolean): void => subscribed.set(own, is ? 1 : 0),
      hedged: (): void => hedges.inc(own),
    };
  };
}

/** Gauges of upstreams; they would keep the last value of a removed upstream. */
const GAUGES = ['in_flight_limit', 'head_block', 'healthy', 'subscribed'];

/** Removes the gauges of a network's upstreams that are not among those that are kept; counters stay. */
export function forgetUpstreams(
  metrics: Metrics,
  network: Pick<Network, 'id' | 'upstreams'>,
  kept: readonly { name: string }[],
): void {
  for (const { name } of network.upstreams) {
    if (kept.some((upstream) => upstream.name === name)) continue;
    for (const gauge of GAUGES) {
      const known = metrics.registry.getSingleMetric(`packhouse_upstream_${gauge}`);
      known?.remove({ network: network.id, upstream: name });
    }
  }
}
