import { hash, type KeyObject } from 'node:crypto';
import { filterItem, hasFilter, mayContain, skipFilterBytes, timesAlone } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { checkFilterSeal, type SealedEntry } from '@packhouse/manifest';
import { isPackhouseError } from '@packhouse/runtime';
import type { Gateway } from '../http.js';
import { type FileFilter, listFilters } from '../list-filters.js';
import type { Match } from '../rows/match.js';

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
  /** The filter with the times alone; null: it cannot be trusted. */
  times: Uint8Array | null;
}

/**
 * Whether each file of a range can hold matching records, by filters that were signed: with the file's entry, or later
 * with a trusted key. Whatever else the gateway sends only makes that a file is loaded. `entries` ascend, one
 * for each file. Throws as `Http.get`.
 */
export async function* chooseFiles(
  gateway: Choosing,
  request: RowRequest & { entries: Iterable<SealedEntry> | AsyncIterable<SealedEntry> },
  signal?: AbortSignal,
): AsyncGenerator<Choice> {
  const { kind, match } = request;
  const filters = isFiltered(kind, match) ? listFilters(gateway, request, signal) : null;
  try {
    let next = await filters?.next();
    for await (const entry of request.entries) {
      while (next?.done === false && next.value.firstBlock < entry.from) next = await filters?.next();
      const found = next?.done === false && next.value.firstBlock === entry.from ? next.value : null;
      const filter = found === null ? null : trustedFilter(found, entry, gateway.keys);
      yield {
        entry,
        load: filter === null || canHold(filter, match),
        by: filter === null ? 'none' : 'filter',
        filterBytes: found?.bytes ?? 0,
        times: filter === null ? null : timesAlone(filter),
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

/** The filter of an entry's file, if that was signed for it. */
export function trustedFilter(
  { object, sha256 }: FileFilter,
  entry: SealedEntry,
  keys: ReadonlyMap<string, KeyObject>,
): Uint8Array | null {
  if (object === null || sha256 !== entry.sha256) return null;
  const named = entry.filter !== undefined && hash('sha256', object, 'hex') === entry.filter.sha256;
  try {
    const length = skipFilterBytes(object);
    const sealed = named || checkFilterSeal(object, length, entry.sha256, keys);
    return sealed ? object.subarray(0, length) : null;
  } catch (error) {
    if (isPackhouseError(error, 'BUNDLE_INVALID')) return null;
    throw error;
  }
}

/**
 * The first blocks of those files of a range that have no matching record, as the gateway's filters say. For
 * estimates: no signature is checked. Throws as `Http.get`.
 */
export async function filesWithout(
  gateway: Gateway,
  request: RowRequest,
  signal?: AbortSignal,
): Promise<Set<number>> {
  const without = new Set<number>();
  const { kind, match } = request;
  if (!isFiltered(kind, match)) return without;
  for await (const { firstBlock, object } of listFilters(gateway, request, signal)) {
    if (object !== null && !mayHold(object, match)) without.add(firstBlock);
  }
  return without;
}

function mayHold(object: Uint8Array, match: Match): boolean {
  try {
    return canHold(object.subarray(0, skipFilterBytes(object)), match);
  } catch (error) {
    if (isPackhouseError(error, 'BUNDLE_INVALID')) return true;
    throw error;
  }
}

/** Whether a file with this filter can hold a matching record: false is certain. Throws BUNDLE_INVALID. */
function canHold(filter: Uint8Array, { addresses, topics = [] }: Match): boolean {
  const has = (...values: string[]): boolean => mayContain(filter, filterItem(...values));
  // All that one log must have: an address and a first topic are in the filter as a pair, too.
  const [first = null, ...others] = topics;
  if (!others.every((list) => list === null || list.some((topic) => has(topic)))) return false;
  const accounts = addresses?.filter((address) => has(address));
  const firsts = first?.filter((topic) => has(topic));
  if (accounts === undefined || firsts === undefined) {
    return accounts?.length !== 0 && firsts?.length !== 0;
  }
  return accounts.some((address) => firsts.some((topic) => has(address, topic)));
}
