import { countBlocks } from '@packhouse/chain';
import { getOrAdd } from '@packhouse/runtime';
import type { KindStatus, NetworkStatus } from './network-report.js';

export interface Rate {
  /** Blocks staged or published a second. */
  blocksPerSecond: number;
  /** Bytes of bundles published a second. */
  bytesPerSecond: number;
  /** Seconds until nothing is missing at this rate; null if unknown or if nothing is missing. */
  etaSeconds: number | null;
}

/** Rates over a sliding window of statuses. */
export interface Rates {
  add(status: NetworkStatus, nowMs: number): void;
  of(kind: KindStatus): Rate;
}

interface Sample {
  atMs: number;
  blocks: number;
  bytes: number;
}

/** Creates an empty window of `windowMs` milliseconds. */
export function createRates(windowMs = 10_000): Rates {
  const samples = new Map<string, Sample[]>();
  const toName = (kind: KindStatus): string => `${kind.network}/${kind.kind}`;
  return {
    add(status, nowMs) {
      for (const kind of status.kinds) {
        const list = getOrAdd(samples, toName(kind), () => []);
        list.push({ atMs: nowMs, blocks: kind.staged + kind.published, bytes: kind.bytes });
        while (list.length > 2 && (list[0] as Sample).atMs < nowMs - windowMs) list.shift();
      }
    },
    of(kind) {
      const list = samples.get(toName(kind)) ?? [];
      const [first, last] = [list[0], list.at(-1)];
      if (first === undefined || last === undefined || last.atMs === first.atMs) {
        return { blocksPerSecond: 0, bytesPerSecond: 0, etaSeconds: null };
      }
      const seconds = (last.atMs - first.atMs) / 1000;
      const blocksPerSecond = Math.max(0, (last.blocks - first.blocks) / seconds);
      const left = countBlocks(kind.missing);
      return {
        blocksPerSecond,
        bytesPerSecond: Math.max(0, (last.bytes - first.bytes) / seconds),
        etaSeconds: left > 0 && blocksPerSecond > 0 ? left / blocksPerSecond : null,
      };
    },
  };
}
