import { type LogName, logPrefix, parseLogKey } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { ObjectStore } from '@packhouse/object-store';

/** A part of a signed log in the object store. */
export interface LogPart extends LogName {
  key: string;
  /** Milliseconds since 1970; 0: the store does not say. */
  writtenAt: number;
}

/**
 * The parts of a log in the store, in the order to take them in: chains from the first entry, each part behind the one
 * that it follows. A database that was set back leaves several branches: of those the one that was written last comes
 * first, as it is the log that went on. Only names are read, about 200 bytes of memory for each.
 */
export async function listParts(
  objectStore: ObjectStore,
  { network, kind }: { network: string; kind: Kind },
  signal: AbortSignal,
): Promise<LogPart[]> {
  const parts: LogPart[] = [];
  for await (const { key, modifiedAt } of objectStore.list(logPrefix(network, kind), { signal })) {
    const name = parseLogKey(key);
    if (name !== null) parts.push({ ...name, key, writtenAt: modifiedAt?.getTime() ?? 0 });
  }
  return inChains(parts);
}

function inChains(parts: readonly LogPart[]): LogPart[] {
  const byEnd = new Map(parts.map((part) => [`${part.last} ${part.hash}`, part]));
  const followed = new Set(parts.map((part) => `${part.first - 1} ${part.before}`));
  const newestFirst = (a: LogPart, b: LogPart): number => b.writtenAt - a.writtenAt || b.last - a.last;
  const ends = parts.filter((part) => !followed.has(`${part.last} ${part.hash}`)).sort(newestFirst);
  const taken = new Set<LogPart>();
  const chains: LogPart[][] = [];
  for (const end of ends) {
    const chain: LogPart[] = [];
    for (let part: LogPart | undefined = end; part !== undefined && !taken.has(part); ) {
      taken.add(part);
      chain.push(part);
      part = byEnd.get(`${part.first - 1} ${part.before}`);
    }
    chains.push(chain.reverse());
  }
  // A chain whose beginning is missing comes behind those that have theirs; the sort is stable.
  return chains.sort(([a], [b]) => (a as LogPart).first - (b as LogPart).first).flat();
}
