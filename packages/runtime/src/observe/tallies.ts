import type { Counter } from 'prom-client';

/** One series of a counter. */
export interface TallyCount {
  add(count: number): void;
}

/** One series of a histogram. */
export interface TallyTimes {
  /** Adds a duration in seconds. */
  observe(seconds: number): void;
}

/** Returns the series of these labels, the same one each time; the caller keeps it. */
type TallySeries<L extends string, T> = (labels: Record<L, string>) => T;

/**
 * Creates the series of a counter for the hot path: plain numbers, copied into the metric when it is rendered.
 * prom-client's `inc` looks its series up by labels each time, which costs more than a microsecond.
 */
export function tallyCounts<L extends string>(counter: Counter<L>): TallySeries<L, TallyCount> {
  const series = createSeries((labels: Record<L, string>) => ({
    labels,
    count: 0,
    add(count: number) {
      this.count += count;
    },
  }));
  onRender(counter, () => {
    for (const one of series.all()) {
      counter.inc(one.labels, one.count);
      one.count = 0;
    }
  });
  return series.of;
}

/**
 * Creates the series of a histogram of seconds in the same way, rendered as the three series of a Prometheus histogram;
 * `bounds` are the upper bounds of its buckets. prom-client's histogram finds a bucket by the decimal text of its
 * bound. The buckets must be registered before the two others.
 */
export function tallyTimes<L extends string>(
  metrics: { buckets: Counter<L | 'le'>; sums: Counter<L>; counts: Counter<L> },
  bounds: readonly number[],
): TallySeries<L, TallyTimes> {
  const series = createSeries((labels: Record<L, string>) => ({
    labels,
    seconds: 0,
    // The last one has no bound.
    buckets: new Array<number>(bounds.length + 1).fill(0),
    observe(seconds: number) {
      this.seconds += seconds;
      let bucket = 0;
      while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket += 1;
      (this.buckets[bucket] as number) += 1;
    },
  }));
  onRender(metrics.buckets, () => {
    for (const one of series.all()) {
      let upTo = 0;
      for (const [at, inBucket] of one.buckets.entries()) {
        upTo += inBucket;
        const le = String(bounds[at] ?? '+Inf');
        metrics.buckets.inc({ ...one.labels, le } as Record<L | 'le', string>, upTo);
      }
      metrics.sums.inc(one.labels, one.seconds);
      metrics.counts.inc(one.labels, upTo);
      one.seconds = 0;
      one.buckets.fill(0);
    }
  });
  return series.of;
}

function createSeries<L extends string, T>(make: (labels: Record<L, string>) => T) {
  const known = new Map<string, T>();
  return {
    all: () => known.values(),
    of: (labels: Record<L, string>): T => {
      const name = JSON.stringify(Object.entries(labels).sort());
      let one = known.get(name);
      if (one === undefined) {
        one = make(labels);
        known.set(name, one);
      }
      return one;
    },
  };
}

/** Sets a function that prom-client calls before it reads this metric and those registered after it. */
function onRender(metric: object, collect: () => void): void {
  Object.assign(metric, { collect });
}
