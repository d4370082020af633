import type { Metrics, TallyCount, TallyTimes } from '@packhouse/runtime';

/** What is counted about the upstreams that a gateway forwards to. */
export interface ForwardMetrics {
  asked(upstream: string, method: string, outcome: string, ms: number): void;
  healthy(upstream: string, healthy: boolean): void;
  head(upstream: string, head: number): void;
  hedged(upstream: string): void;
}

const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Registers the metrics of one network. */
export function createForwardMetrics(metrics: Metrics, network: string): ForwardMetrics {
  const labels = ['network', 'upstream'];
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
  };
}
