import type { Metrics } from '@packhouse/runtime';

type Labels = Record<string, string>;

/** A gauge of which values can be removed again. */
export interface StateGauge {
  set(labels: Labels, value: number): void;
  /** Sets the values below these labels and removes those of an earlier call that are not among them. */
  fill(labels: Labels, values: readonly { labels: Labels; value: number }[]): void;
  forget(): void;
}

/** Registers gauges of the installation's state; they have no values until they are set. */
export function createStateGauges(metrics: Metrics) {
  return {
    gauge(name: string, help: string, labels: string[] = []): StateGauge {
      const gauge = metrics.gauge(name, help, labels);
      const filled = new Map<string, Map<string, Labels>>();
      const forget = (): void => {
        gauge.reset();
        // Without labels it would read 0, which was not measured.
        gauge.remove({});
        filled.clear();
      };
      forget();
      return {
        set: (below, value) => gauge.set(below, value),
        fill(below, values) {
          const place = JSON.stringify(below);
          const now = new Map<string, Labels>();
          for (const { labels: own, value } of values) {
            now.set(JSON.stringify(own), { ...below, ...own });
            gauge.set({ ...below, ...own }, value);
          }
          for (const [key, gone] of filled.get(place) ?? []) if (!now.has(key)) gauge.remove(gone);
          filled.set(place, now);
        },
        forget,
      };
    },
  };
}
