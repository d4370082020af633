import { hash, type KeyObject } from 'node:crypto';
import { type BundleFilter, compileItems, filterBytes, hasFilter, memberSize } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { checkFilterSeal, type SealedEntry } from '@packhouse/manifest';
import type { Match } from '@packhouse/rows';
import { type FilePart, isWorthIt, sumOf, toRanges } from '../fetch/file-parts.js';
import type { Gateway } from '../fetch/http.js';
import { type FileFilter, listFilters, parseFilter } from '../fetch/list-filters.js';

interface Choosing extends Gateway {
  /** The public keys that are trusted. */
  keys: ReadonlyMap<string, KeyObject>;
}

/** Rows of a range. */
interface RowRequest extends BlockRange {
  kind: Kind;
  match: Match;
}

/** A file of a range, and whether it is needed. */
export interface Choice {
  entry: SealedEntry;
  /** False: it has no matching record, for certain. */
  load: boolean;
  /** `filter`: its filter says so. `none`: it has no filter that can be trusted, so it is loaded. */
  by: 'filter' | 'none';
  /** Bytes that its filter took to load. */
  filterBytes: number;
  /** The parts with such records, if that costs less than loading the file; null: it is loaded whole, or not at all. */
  parts: readonly FilePart[] | null;
  /** The times of its blocks as the filter has them; null: it cannot be trusted. */
  times: Uint8Array | null;
}

/**
 * Which files of a range, or which parts of them, can hold matching records, by filters that were signed: with the file's entry, or later
 * with a trusted key. Whatever else the gateway sends only makes that a file is loaded. `entries` ascend, one
 * for each file. Throws as `Http.get`.
 */
export async function* chooseFiles(
  gateway: Choosing,
  request: RowRequest & { entries: Iterable<SealedEntry> | AsyncIterable<SealedEntry> },
  signal?: AbortSignal,
): AsyncGenerator<Choice> {
  const { kind, match } = request;
  const choose = createChoice(request);
  const filters = isFiltered(kind, match) ? listFilters(gateway, request, signal) : null;
  try {
    let next = await filters?.next();
    for await (const entry of request.entries) {
      while (next?.done === false && next.value.firstBlock < entry.from) next = await filters?.next();
      const found = next?.done === false && next.value.firstBlock === entry.from ? next.value : null;
      const filter = found === null ? null : trustedFilter(found, entry, gateway.keys);
      const chosen = filter === null ? null : choose(filter, entry.bytes);
      yield {
        entry,
        load: chosen === null || chosen.load,
        by: filter === null ? 'none' : 'filter',
        filterBytes: found?.bytes ?? 0,
        parts: chosen?.parts ?? null,
        times: filter === null ? null : Uint8Array.from(filter.times),
      };
    }
  } finally {
    await filters?.return(undefined);
  }
}

/** Whether a match leaves records out, of a kind whose files have filters. */
export function isFiltered(kind: Kind, { addresses, topics }: Match): boolean {
  return hasFilter(kind) && (addresses !== undefined || topics?.some((list) => list !== null) === true);
}

/** Chooses of a file of so many bytes, by its filter. */
function createChoice({ match, firstBlock, lastBlock }: RowRequest) {
  const mayMatch = compileItems(match);
  return (filter: BundleFilter, bytes: number): Pick<Choice, 'load' | 'parts'> => {
    const parts = filter.parts.filter(
      (part) => part.firstBlock <= lastBlock && part.lastBlock >= firstBlock && mayMatch(part.items),
    );
    const load = parts.length > 0;
    return { load, parts: load && isWorthIt(parts, filter, bytes) ? parts : null };
  };
}

/** The filter of an entry's file, if that was signed for it. */
export function trustedFilter(
  { object, sha256 }: FileFilter,
  entry: SealedEntry,
  keys: ReadonlyMap<string, KeyObject>,
): BundleFilter | null {
  if (object === null || sha256 !== entry.sha256) return null;
  const filter = parseFilter(object, { firstBlock: entry.from, lastBlock: entry.to });
  if (filter === null) return null;
  const named = entry.filter !== undefined && hash('sha256', object, 'hex') === entry.filter.sha256;
  return named || checkFilterSeal(object, filterBytes(object), entry.sha256, keys) ? filter : null;
}

/** What of a file is loaded. */
interface Load {
  bytes: number;
  requests: number;
}

/**
 * What is loaded of those files of a range that are not loaded whole, by their first blocks, as the gateway's filters
 * say. For estimates: no signature is checked. Throws as `Http.get`.
 */
export async function estimateLoads(
  gateway: Gateway,
  request: RowRequest,
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, Load>> {
  const loads = new Map<number, Load>();
  const { kind, match } = request;
  if (!isFiltered(kind, match)) return loads;
  const choose = createChoice(request);
  for await (const { object, ...range } of listFilters(gateway, request, signal)) {
    const filter = object === null ? null : parseFilter(object, range);
    if (filter === null) continue;
    const { load, parts } = choose(filter, memberSize(filter.parts));
    const ranges = toRanges(parts ?? []);
    if (!load || parts !== null) {
      loads.set(range.firstBlock, { bytes: sumOf(ranges), requests: ranges.length });
    }
  }
  return loads;
}
