import { createRequire } from 'node:module';
import type * as Prometheus from 'prom-client';
import type { Counter, Gauge, Histogram } from 'prom-client';
import { tallyCounts, tallyTimes } from './tallies.js';

/** Loaded with the first registry: most commands have none, and end sooner. */
const load = (): typeof Prometheus => createRequire(import.meta.url)('prom-client');

/** Names are `packhouse_<noun>_<unit>`; labels are few and bounded. A repeated name returns the same metric. */
export interface Metrics extends ReturnType<typeof createMetrics> {}

/** Creates an empty registry. */
export function createMetrics() {
  const prometheus = load();
  const registry = new prometheus.Registry();
  const get = <T>(name: string, make: () => T): T =>
    (registry.getSingleMetric(name) as T | undefined) ?? make();
  const counter = <L extends string>(name: string, help: string, labels: readonly L[] = []): Counter<L> =>
    get(
      name,
      () => new prometheus.Counter<L>({ name, help, labelNames: [...labels], registers: [registry] }),
    );
  const tallies = new Map<string, unknown>();
  const tally = <T>(name: string, make: () => T): T => {
    const known = (tallies.get(name) as T | undefined) ?? make();
    tallies.set(name, known);
    return known;
  };
  return {
    counter,
    /** Adds to the counter with these labels. */
    count: <L extends string>(name: string, help: string, labels: Record<L, string>, by = 1): void =>
      counter(name, help, Object.keys(labels) as L[]).inc(labels, by),
    /** A counter for the hot path; callers keep its series. */
    tallyCounter: <L extends string>(name: string, help: string, labels: readonly L[]) =>
      tally(name, () => tallyCounts(counter(name, help, labels))),
    /** A histogram of seconds for the hot path; rendered as three counters. */
    tallyHistogram: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[],
      bounds: readonly number[],
    ) =>
      tally(name, () => {
        const buckets = counter(`${name}_bucket`, `${help}, up to le seconds.`, [...labels, 'le']);
        const sums = counter(`${name}_sum`, `${help}: seconds in all.`, labels);
        const counts = counter(`${name}_count`, `${help}: how many.`, labels);
        return tallyTimes({ buckets, sums, counts }, bounds);
      }),
    /**
     * `collect` is called before the gauge is rendered, to set its current values. `across`: how processes that are
     * rendered as one are joined; default: summed.
     */
    gauge: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      collect?: (gauge: Gauge<L>) => void | Promise<void>,
      across: 'sum' | 'max' | 'min' = 'sum',
    ): Gauge<L> =>
      get(name, () => {
        const gauge: Gauge<L> = new prometheus.Gauge<L>({
          name,
          help,
          labelNames: [...labels],
          registers: [registry],
          aggregator: across,
          ...(collect === undefined ? {} : { collect: () => collect(gauge) }),
        });
        return gauge;
      }),
    histogram: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      buckets?: readonly number[],
    ): Histogram<L> =>
      get(
        name,
        () =>
          new prometheus.Histogram({
            name,
            help,
            labelNames: [...labels],
            registers: [registry],
            ...(buckets === undefined ? {} : { buckets: [...buckets] }),
          }),
      ),
    /** The Prometheus text. */
    render: () => registry.metrics(),
    /** The figures behind the text, as JSON, for `renderTogether`. */
    figures: (): Promise<object[]> => registry.getMetricsAsJSON(),
    contentType: registry.contentType as string,
    /** For libraries that register metrics themselves. */
    registry,
  };
}

/**
 * The Prometheus text of several processes as one: counters and histograms are summed, gauges joined as they say.
 * `process_start_time_seconds` is left out, and lags of the event loop are averages.
 */
export function renderTogether(processes: readonly object[][]): Promise<string> {
  return load()
    .AggregatorRegistry.aggregate([...processes])
    .metrics();
}

/**
 * Adds the metrics of every process: `process_*` (memory, CPU, start time, open files) and `nodejs_*` (event-loop lag,
 * heap, garbage collection), under the usual names of Node programs.
 */
export function collectProcessMetrics(metrics: Metrics): void {
  load().collectDefaultMetrics({ register: metrics.registry });
}
