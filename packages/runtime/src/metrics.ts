import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Names are `packhouse_<noun>_<unit>`; labels are few and bounded. Asking twice for a name gives the same metric. */
export interface Metrics {
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** `collect` is called before the gauge is rendered, to set what is read at that moment. */
  gauge<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L>;
  histogram<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    buckets?: readonly number[],
  ): Histogram<L>;
  /** The Prometheus text. */
  render(): Promise<string>;
  contentType: string;
  /** For what brings metrics of its own. */
  registry: Registry;
}

/** Makes an empty registry. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const get = <T>(name: string, make: () => T): T =>
    (registry.getSingleMetric(name) as T | undefined) ?? make();
  return {
    counter: (name, help, labels = []) =>
      get(name, () => new Counter({ name, help, labelNames: [...labels], registers: [registry] })),
    gauge: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      collect?: (gauge: Gauge<L>) => void | Promise<void>,
    ) =>
      get(name, () => {
        const gauge: Gauge<L> = new Gauge<L>({
          name,
          help,
          labelNames: [...labels],
          registers: [registry],
          ...(collect === undefined ? {} : { collect: () => collect(gauge) }),
        });
        return gauge;
      }),
    histogram: (name, help, labels = [], buckets) =>
      get(
        name,
        () =>
          new Histogram({
            name,
            help,
            labelNames: [...labels],
            registers: [registry],
            ...(buckets === undefined ? {} : { buckets: [...buckets] }),
          }),
      ),
    render: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  };
}
