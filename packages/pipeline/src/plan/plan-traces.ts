import type { BlockRange, Kind } from '@packhouse/chain';
import type { Context } from '@packhouse/runtime';
import type { IngestWindow } from '../job-names.js';

/** The traces that planned windows began, so that packing what they stage is in the same trace. */
export interface PlanTraces {
  /** Begins the span of a plan; returns what to give its jobs, and to end it. Undefined where nothing is traced. */
  begin(
    network: string,
    windows: readonly IngestWindow[],
  ): { readonly traceparent: string; end(): void } | undefined;
  /** The trace of the newest window that has the first block of a run in this kind. */
  of(kind: Kind, run: BlockRange): string | undefined;
}

/** Windows that are remembered. */
const MOST = 10_000;

/** Creates the memory of one leader; a new leader begins without, and its first bundles have traces of their own. */
export function createPlanTraces({ tracing }: Pick<Context, 'tracing'>): PlanTraces {
  let planned: (IngestWindow & { traceparent: string })[] = [];
  return {
    begin(network, windows) {
      if (tracing === undefined || windows.length === 0) return undefined;
      const span = tracing.work('plan', {
        'packhouse.network': network,
        'packhouse.windows': windows.length,
      });
      const { traceparent } = span;
      planned = [...planned, ...windows.map((window) => ({ ...window, traceparent }))].slice(-MOST);
      return { traceparent, end: () => span.end() };
    },
    of: (kind, { firstBlock }) =>
      planned.findLast(
        (window) =>
          window.firstBlock <= firstBlock && firstBlock <= window.lastBlock && window.kinds.includes(kind),
      )?.traceparent,
  };
}
