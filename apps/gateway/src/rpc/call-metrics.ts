import { getOrAdd, type Metrics, type TallyCount, type TallyTimes } from '@packhouse/runtime';
import { createBoundedLabel } from '../http/request-metrics.js';

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Upper bounds of the buckets of batches, in calls. */
const BATCHES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/** Where answers come from: memory, a shared question, the upstreams, or the gateway itself. */
const SOURCES = ['memory', 'shared', 'nodes', 'own'] as const;
type AnswerSource = (typeof SOURCES)[number];

/** Counters of the JSON-RPC calls of one network. */
export interface CallMetrics {
  /** Begins a call; the returned function ends it. `method` is a name in the table of methods, or `other`. */
  begin(method: string, key: string): (code: string) => void;
  /** Counts an item that is not a call. */
  refused(key: string, code: string): void;
  batch(calls: number): void;
  answered(source: AnswerSource): void;
  /** Counts a call that was answered from memory without being parsed again. */
  fromMemory(method: string, key: string, seconds: number): void;
}

/** The series of one method. */
interface MethodSeries {
  times: TallyTimes | undefined;
  codes: Map<string, TallyCount>;
  keys: Map<string, TallyCount>;
}

interface NetworkSeries {
  inFlight: number;
  methods: Map<string, MethodSeries>;
  sources: Record<AnswerSource, TallyCount>;
}

/**
 * Creates the counters of JSON-RPC calls, by network. Labels are bounded: methods of the table, the codes below, and
 * a thousand existing keys.
 */
export function createCallMetrics(
  metrics: Metrics,
  /** Number of current filters, by network. */
  countFilters: () => Promise<ReadonlyMap<string, number>>,
): (network: string) => CallMetrics {
  const networks = new Map<string, NetworkSeries>();
  const place = ['network', 'method'] as const;
  const calls = metrics.tallyCounter('packhouse_rpc_calls_total', 'JSON-RPC calls answered, by code.', [
    ...place,
    'code',
  ]);
  const ofKeys = metrics.tallyCounter('packhouse_rpc_key_calls_total', 'JSON-RPC calls answered, by key.', [
    ...place,
    'key',
  ]);
  const times = metrics.tallyHistogram(
    'packhouse_rpc_call_seconds',
    'Time from the start of a JSON-RPC call to the start of its answer.',
    place,
    BOUNDS,
  );
  const batches = metrics.histogram('packhouse_rpc_batch_calls', 'Calls in a batch.', ['network'], BATCHES);
  const answers = metrics.tallyCounter('packhouse_rpc_answers_total', 'JSON-RPC answers by source.', [
    'network',
    'source',
  ]);
  metrics.gauge('packhouse_rpc_in_flight', 'JSON-RPC calls in flight.', ['network'], (gauge) => {
    for (const [network, { inFlight }] of networks) gauge.set({ network }, inFlight);
  });
  // The store counts those of all processes.
  metrics.gauge(
    'packhouse_rpc_filters',
    'Active filters.',
    ['network'],
    async (gauge) => {
      // The metrics are most needed while the database is away.
      const active = await countFilters().catch(() => null);
      gauge.reset();
      for (const [network, count] of active ?? []) gauge.set({ network }, count);
    },
    'max',
  );

  const keyLabel = createBoundedLabel();
  const toSeries = (network: string): NetworkSeries => {
    const sources = Object.fromEntries(SOURCES.map((source) => [source, answers({ network, source })]));
    return { inFlight: 0, methods: new Map(), sources: sources as NetworkSeries['sources'] };
  };
  return (network) => {
    // A network that returns with a later networks file continues its counters.
    const mine = getOrAdd(networks, network, () => toSeries(network));
    const ended = (method: string, key: string, code: string): MethodSeries => {
      const of = getOrAdd(mine.methods, method, () => ({
        times: undefined,
        codes: new Map(),
        keys: new Map(),
      }));
      const label = CODES.has(code) ? code : 'other';
      getOrAdd(of.codes, label, () => calls({ network, method, code: label })).add(1);
      const whose = keyLabel(key);
      getOrAdd(of.keys, whose, () => ofKeys({ network, method, key: whose })).add(1);
      return of;
    };
    const took = (method: string, key: string, code: string, seconds: number): void => {
      const of = ended(method, key, code);
      of.times ??= times({ network, method });
      of.times.observe(seconds);
    };
    return {
      begin(method, key) {
        const startedAt = performance.now();
        mine.inFlight += 1;
        return (code) => {
          mine.inFlight -= 1;
          took(method, key, code, (performance.now() - startedAt) / 1_000);
        };
      },
      fromMemory(method, key, seconds) {
        mine.sources.memory.add(1);
        took(method, key, 'ok', seconds);
      },
      refused: (key, code) => void ended('other', key, code),
      batch: (size) => batches.observe({ network }, size),
      answered: (source) => mine.sources[source].add(1),
    };
  };
}

/** Codes used as labels; any other code is `other`. */
const CODES = new Set(
  `ok 3 -32700 -32600 -32601 -32602 -32603 -32000 -32001 -32002 -32003 -32004 -32005 -32010 -32015 -32016 -32072
  -32073 -32066 -32074 -32075 -32077 -301 -302 -1102 -1107 aborted`.split(/\s+/),
);
