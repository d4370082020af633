import type { Network } from '@packhouse/networks';
import type { Metrics, TallyCount, TallyTimes } from '@packhouse/runtime';

const labels = ['network', 'upstream'];
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Metrics of the upstreams that blocks are fetched from. */
export interface CallMetrics {
  calls(upstream: string, method: string, outcome: string, count: number): void;
  took(upstream: string, method: string, seconds: number): void;
  bytes(upstream: string, bytes: number): void;
  inFlightLimit(upstream: string, limit: number): void;
  lie(upstream: string): void;
  head(upstream: string, number: number): void;
  healthy(upstream: string, healthy: boolean): void;
  subscribed(upstream: string, delivering: boolean): void;
}

/** Registers the metrics of one network; outcomes are `ok` and codes of the error catalogue. */
export function createCallMetrics(metrics: Metrics, network: string): CallMetrics {
  const calls = metrics.counter('packhouse_upstream_calls_total', 'JSON-RPC calls to upstreams.', [
    ...labels,
    'method',
    'outcome',
  ]);
  const seconds = metrics.histogram(
    'packhouse_upstream_fetch_seconds',
    'HTTP requests to upstreams, from sending to the last byte.',
    [...labels, 'method'],
    BUCKETS,
  );
  const bytes = metrics.counter(
    'packhouse_upstream_received_bytes_total',
    'Bytes of answers, after decoding.',
    labels,
  );
  const limit = metrics.gauge(
    'packhouse_upstream_in_flight_limit',
    'HTTP requests that may be in flight.',
    labels,
  );
  const lies = metrics.counter(
    'packhouse_upstream_lies_total',
    'Blocks that failed a proof, by who sent them.',
    labels,
  );
  const head = metrics.gauge(
    'packhouse_upstream_head',
    'The highest block that an upstream was seen to have.',
    labels,
    undefined,
    'max',
  );
  const healthy = metrics.gauge(
    'packhouse_upstream_usable',
    '1 while an upstream is asked like any other; 0 while it rests, told a lie, is on another branch or another chain.',
    labels,
    undefined,
    'min',
  );
  const subscribed = metrics.gauge(
    'packhouse_upstream_subscribed',
    '1 while an upstream tells of new heads over WebSocket; 0 while it is polled for them.',
    labels,
    undefined,
    'min',
  );
  return {
    calls: (upstream, method, outcome, count) => calls.inc({ network, upstream, method, outcome }, count),
    took: (upstream, method, value) => seconds.observe({ network, upstream, method }, value),
    bytes: (upstream, value) => bytes.inc({ network, upstream }, value),
    inFlightLimit: (upstream, value) => limit.set({ network, upstream }, value),
    lie: (upstream) => lies.inc({ network, upstream }),
    head: (upstream, number) => head.set({ network, upstream }, number),
    healthy: (upstream, is) => healthy.set({ network, upstream }, is ? 1 : 0),
    subscribed: (upstream, is) => subscribed.set({ network, upstream }, is ? 1 : 0),
  };
}

/** Gauges of upstreams; they would keep the last value of an upstream that is gone. */
const GAUGES = ['in_flight_limit', 'head', 'usable', 'subscribed', 'healthy', 'head_block'];

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

/** Metrics of the upstreams that a gateway forwards to. */
export interface ForwardMetrics {
  asked(upstream: string, method: string, outcome: string, ms: number): void;
  healthy(upstream: string, healthy: boolean): void;
  head(upstream: string, head: number): void;
  hedged(upstream: string): void;
  lied(upstream: string, method: string): void;
  /** The newest block could not be shared with other gateways. */
  alone(): void;
}

/** Registers the metrics of one network. */
export function createForwardMetrics(metrics: Metrics, network: string): ForwardMetrics {
  const requests = metrics.tallyCounter(
    'packhouse_upstream_requests_total',
    'Requests forwarded to nodes, by what came of them.',
    [...labels, 'method', 'outcome'],
  );
  const seconds = metrics.tallyHistogram(
    'packhouse_upstream_request_seconds',
    'Time from sending a request to a node until its answer was here or began to be handed on',
    labels,
    BUCKETS,
  );
  const healthy = metrics.gauge(
    'packhouse_upstream_healthy',
    '1 while a node is asked, 0 while it rests or serves another chain.',
    labels,
  );
  const head = metrics.gauge(
    'packhouse_upstream_head_block',
    'The highest block that a node said it has.',
    labels,
  );
  const hedges = metrics.counter(
    'packhouse_upstream_hedges_total',
    'Second requests sent because the first took long.',
    labels,
  );
  const falseAnswers = metrics.counter(
    'packhouse_upstream_false_answers_total',
    'Answers to clients that a block contradicted (integrity: full), by who sent them.',
    [...labels, 'method'],
  );
  const alone = metrics.counter(
    'packhouse_tip_alone_total',
    'Times that the newest block could not be shared with other gateways: this one goes on alone for a second.',
    ['network'],
  );
  /** By upstream; of each, by method and outcome. */
  const nodes = new Map<string, { seconds: TallyTimes; methods: Map<string, Map<string, TallyCount>> }>();
  return {
    asked: (upstream, method, outcome, ms) => {
      let node = nodes.get(upstream);
      if (node === undefined) {
        node = { seconds: seconds({ network, upstream }), methods: new Map() };
        nodes.set(upstream, node);
      }
      node.seconds.observe(ms / 1_000);
      let outcomes = node.methods.get(method);
      if (outcomes === undefined) {
        outcomes = new Map();
        node.methods.set(method, outcomes);
      }
      let count = outcomes.get(outcome);
      if (count === undefined) {
        count = requests({ network, upstream, method, outcome });
        outcomes.set(outcome, count);
      }
      count.add(1);
    },
    healthy: (upstream, value) => healthy.set({ network, upstream }, value ? 1 : 0),
    head: (upstream, value) => head.set({ network, upstream }, value),
    hedged: (upstream) => hedges.inc({ network, upstream }),
    lied: (upstream, method) => falseAnswers.inc({ network, upstream, method }),
    alone: () => alone.inc({ network }),
  };
}
