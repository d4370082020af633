import type { Metrics } from '@packhouse/runtime';

/** What is counted about the upstreams of one network. */
export interface NodeMetrics {
  calls(upstream: string, method: string, outcome: string, count: number): void;
  took(upstream: string, method: string, seconds: number): void;
  bytes(upstream: string, bytes: number): void;
  inFlightLimit(upstream: string, limit: number): void;
  lie(upstream: string): void;
  head(upstream: string, number: number): void;
  healthy(upstream: string, healthy: boolean): void;
  subscribed(upstream: string, delivering: boolean): void;
}

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Registers the metrics; outcomes are `ok` and codes of the error catalogue. */
export function createNodeMetrics(metrics: Metrics, network: string): NodeMetrics {
  const calls = metrics.counter('packhouse_node_calls_total', 'JSON-RPC calls to nodes.', [
    'network',
    'upstream',
    'method',
    'outcome',
  ]);
  const seconds = metrics.histogram(
    'packhouse_node_request_seconds',
    'HTTP requests to nodes, from sending to the last byte.',
    ['network', 'upstream', 'method'],
    BUCKETS,
  );
  const bytes = metrics.counter('packhouse_node_received_bytes_total', 'Bytes of answers, after decoding.', [
    'network',
    'upstream',
  ]);
  const limit = metrics.gauge('packhouse_node_in_flight_limit', 'HTTP requests that may be in flight.', [
    'network',
    'upstream',
  ]);
  const lies = metrics.counter('packhouse_node_lies_total', 'Blocks that failed a proof, by who sent them.', [
    'network',
    'upstream',
  ]);
  const head = metrics.gauge('packhouse_node_head', 'The highest block that a node was seen to have.', [
    'network',
    'upstream',
  ]);
  const healthy = metrics.gauge(
    'packhouse_node_healthy',
    '1 while a node is asked like any other; 0 while it rests, told a lie, is on another branch or another chain.',
    ['network', 'upstream'],
  );
  const subscribed = metrics.gauge(
    'packhouse_node_subscribed',
    '1 while a node tells of new heads over WebSocket; 0 while it is polled for them.',
    ['network', 'upstream'],
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
