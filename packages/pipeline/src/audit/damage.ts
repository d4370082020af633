import type { BlockRange, Kind } from '@packhouse/chain';
import type { Finding, FindingCause } from './finding.js';

/** A published bundle in which something was found. */
export interface DamagedBundle extends BlockRange {
  network: string;
  kind: Kind;
  key: string;
  version: number;
  causes: FindingCause[];
  /** The sentence of the first finding. */
  message: string;
}

/** Damaged bundles that are kept by name; more are only counted. */
const MOST = 10_000;

/** The damaged bundles of an audit. */
export interface Damage {
  add(finding: Finding): void;
  of(network: string): DamagedBundle[];
  /** Findings about bundles that were too many to be kept, and about rows that cannot be read. */
  others(network: string): number;
}

/** Makes an empty list. */
export function createDamage(): Damage {
  const bundles = new Map<string, DamagedBundle>();
  const others = new Map<string, number>();
  return {
    add({ network, kind, start, end, key, version, cause, message, harmless }) {
      if (harmless) return;
      const named = kind !== null && start !== null && end !== null && key !== null && version !== null;
      const known = key === null ? undefined : bundles.get(key);
      if (known !== undefined) known.causes.push(cause);
      else if (!named || bundles.size >= MOST) others.set(network, (others.get(network) ?? 0) + 1);
      else bundles.set(key, { network, kind, start, end, key, version, causes: [cause], message });
    },
    of: (network) => [...bundles.values()].filter((bundle) => bundle.network === network),
    others: (network) => others.get(network) ?? 0,
  };
}
