import type { Figures, NodeCounter } from '@packhouse/database';
import type { createIncreases, Rates } from './increases.js';

/** The name under which the history keeps a node. */
const toNodeName = (network: string, upstream: string): string => JSON.stringify([network, upstream]);

/** The figures of each node: calls, errors, answers and milliseconds of answers per second, and how far it is behind. */
export function sampleNodes(
  reports: readonly NodeCounter[],
  increases: ReturnType<typeof createIncreases>,
): Map<string, Figures> {
  const rates = increases(
    reports.flatMap(({ network, upstream, part, totals }) => {
      const name = toNodeName(network, upstream);
      return totals === null
        ? []
        : { name, part, counts: [totals.calls, totals.errors, totals.answers, totals.ms] };
    }),
  );
  const highest = new Map<string, number>();
  const heads = new Map<string, number>();
  for (const { network, upstream, head, excluded } of reports) {
    if (head === null) continue;
    const name = toNodeName(network, upstream);
    heads.set(name, Math.max(heads.get(name) ?? 0, head));
    if (!excluded) highest.set(network, Math.max(highest.get(network) ?? 0, head));
  }
  const found = new Map<string, Figures>();
  for (const { network, upstream } of reports) {
    const name = toNodeName(network, upstream);
    if (found.has(name)) continue;
    const [head, best] = [heads.get(name), highest.get(network)];
    const lag = head === undefined || best === undefined ? null : Math.max(0, best - head);
    found.set(name, [...orUnknown(rates?.get(name), 4), lag]);
  }
  return found;
}

/** Rates, or as many unknown ones. */
export function orUnknown(rates: Rates | undefined, length: number): Figures {
  return rates ?? new Array<null>(length).fill(null);
}
