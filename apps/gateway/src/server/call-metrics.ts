import type { Metrics } from '@packhouse/runtime';
import { createBoundedLabel } from './bounded-label.js';

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Upper bounds of the buckets of batches, in calls. */
const BATCHES = [1, 2, 5, 10, 20, 50, 100];

/** Where an answer came from: memory, another call's flight, the nodes, or the gateway itself. */
export type AnswerSource = 'memory' | 'shared' | 'nodes' | 'own';

/** What is counted of the JSON-RPC calls of one network. */
export interface CallMetrics {
  /** A call begins; the function it returns ends it. `method` is a name of the method table, or `other`. */
  begin(method: string, key: string): (code: string) => void;
  /** A call that was none. */
  refused(key: string, code: string): void;
  batch(calls: number): void;
  answered(source: AnswerSource): void;
}

/** What was counted of one method since the metrics were last rendered. */
interface Tally {
  calls: number;
  seconds: number;
  buckets: number[];
  codes: Map<string, number>;
  keys: Map<string, number>;
}

interface NetworkTallies {
  inFlight: number;
  methods: Map<string, Tally>;
  sources: Record<AnswerSource, number>;
}

/**
 * Makes the counters of JSON-RPC calls, by network. As with visits, calls add to tallies, and tallies go into the
 * metrics when these are rendered. Labels are bounded: methods are those of the table, codes those below, and keys
 * those that exist, a thousand of them.
 */
export function createCallMetrics(
  metrics: Metrics,
  /** Filters that live now, by network. */
  countFilters: () => Promise<ReadonlyMap<string, number>>,
): (network: string) => CallMetrics {
  const networks = new Map<string, NetworkTallies>();
  const place = ['network', 'method'] as const;
  const calls = metrics.counter('packhouse_rpc_calls_total', 'JSON-RPC calls answered, by code.', [
    ...place,
    'code',
  ]);
  const ofKeys = metrics.counter('packhouse_rpc_key_calls_total', 'JSON-RPC calls answered, by key.', [
    ...place,
    'key',
  ]);
  const name = 'packhouse_rpc_call_seconds';
  const help = 'Time that a JSON-RPC call took, until its answer began';
  const buckets = metrics.counter(`${name}_bucket`, `${help}: calls up to le seconds.`, [...place, 'le']);
  const sums = metrics.counter(`${name}_sum`, `${help}: seconds in all.`, place);
  const counts = metrics.counter(`${name}_count`, `${help}: calls.`, place);
  const batches = metrics.histogram('packhouse_rpc_batch_calls', 'Calls in a batch.', ['network'], BATCHES);
  const answers = metrics.counter('packhouse_rpc_answers_total', 'Where answers came from.', [
    'network',
    'source',
  ]);
  metrics.gauge('packhouse_rpc_in_flight', 'Calls that are being answered.', ['network'], (gauge) => {
    for (const [network, { inFlight }] of networks) gauge.set({ network }, inFlight);
  });
  metrics.gauge('packhouse_rpc_filters', 'Filters that live.', ['network'], async (gauge) => {
    // The metrics are wanted most where the database is away.
    const living = await countFilters().catch(() => null);
    gauge.reset();
    for (const [network, count] of living ?? []) gauge.set({ network }, count);
  });

  // prom-client calls it before it reads the first of these counters, whoever renders them.
  Object.assign(calls, {
    collect: () => {
      for (const [network, tallies] of networks) {
        for (const [method, tally] of tallies.methods) {
          for (const [code, count] of tally.codes) calls.inc({ network, method, code }, count);
          for (const [key, count] of tally.keys) ofKeys.inc({ network, method, key }, count);
          if (tally.calls === 0) continue;
          sums.inc({ network, method }, tally.seconds);
          counts.inc({ network, method }, tally.calls);
          let upTo = 0;
          for (const [at, inBucket] of tally.buckets.entries()) {
            upTo += inBucket;
            buckets.inc({ network, method, le: BOUNDS[at] ?? '+Inf' }, upTo);
          }
        }
        for (const [source, count] of Object.entries(tallies.sources))
          answers.inc({ network, source }, count);
        networks.set(network, { ...emptyTallies(), inFlight: tallies.inFlight });
      }
    },
  });

  const keyLabel = createBoundedLabel();
  return (network) => {
    const tallies = (): NetworkTallies => {
      let known = networks.get(network);
      if (known === undefined) {
        known = emptyTallies();
        networks.set(network, known);
      }
      return known;
    };
    const end = (now: NetworkTallies, method: string, key: string, code: string): Tally => {
      let tally = now.methods.get(method);
      if (tally === undefined) {
        tally = emptyTally();
        now.methods.set(method, tally);
      }
      add(tally.codes, boundedCode(code));
      add(tally.keys, keyLabel(key));
      return tally;
    };
    return {
      begin(method, key) {
        const startedAt = performance.now();
        tallies().inFlight += 1;
        return (code) => {
          const now = tallies();
          now.inFlight -= 1;
          time(end(now, method, key, code), (performance.now() - startedAt) / 1_000);
        };
      },
      refused: (key, code) => void end(tallies(), 'other', key, code),
      batch: (size) => batches.observe({ network }, size),
      answered: (source) => {
        tallies().sources[source] += 1;
      },
    };
  };
}

/** Codes that a label may have; a node's others are `other`. */
const CODES = new Set(
  `ok 3 -32700 -32600 -32601 -32602 -32603 -32000 -32001 -32002 -32003 -32004 -32005 -32010 -32015 -32016 -32072
  -32073 -32066 -32074 -32075 -32077 -301 -302 -1102 -1107 aborted`.split(/\s+/),
);

function boundedCode(code: string): string {
  return CODES.has(code) ? code : 'other';
}

function emptyTallies(): NetworkTallies {
  return {
    inFlight: 0,
    methods: new Map(),
    sources: { memory: 0, shared: 0, nodes: 0, own: 0 },
  };
}

function emptyTally(): Tally {
  const buckets = new Array<number>(BOUNDS.length + 1).fill(0);
  return { calls: 0, seconds: 0, buckets, codes: new Map(), keys: new Map() };
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function time(tally: Tally, seconds: number): void {
  tally.calls += 1;
  tally.seconds += seconds;
  let bucket = 0;
  while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket += 1;
  (tally.buckets[bucket] as number) += 1;
}
