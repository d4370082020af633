import { hash, type KeyObject } from 'node:crypto';
import { skipFilterBytes } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { checkFilterSeal, type SealedEntry } from '@packhouse/manifest';
import { isPackhouseError } from '@packhouse/runtime';
import type { GatewayAddress } from '../gateway-address.js';
import type { Http } from '../http.js';
import { canHold, type Wanted } from './can-hold.js';
import { isFiltered } from './files-without.js';
import { type FileFilter, listFilters } from './list-filters.js';

interface Choosing {
  address: GatewayAddress;
  http: Http;
  /** The public keys that are trusted. */
  keys: ReadonlyMap<string, KeyObject>;
}

/** A file of a range, and whether it is needed. */
export interface Choice {
  entry: SealedEntry;
  /** False: no record that is wanted is in it, for certain. */
  load: boolean;
  /** `filter`: its filter says so. `none`: it has no filter that can be trusted, so it is loaded. */
  by: 'filter' | 'none';
  /** Bytes that its filter took to load. */
  filterBytes: number;
}

/**
 * Tells of each file of a range whether it can hold what is wanted, by filters that were signed: with the file's entry,
 * or later with a trusted key. Whatever else the gateway sends only makes that a file is loaded. `entries` ascend, one
 * for each file. Throws as `Http.get`.
 */
export async function* chooseFiles(
  { address, http, keys }: Choosing,
  {
    kind,
    wanted,
    entries,
    ...range
  }: BlockRange & {
    kind: Kind;
    wanted: Wanted;
    entries: Iterable<SealedEntry> | AsyncIterable<SealedEntry>;
  },
  signal?: AbortSignal,
): AsyncGenerator<Choice> {
  const filters = isFiltered(kind, wanted)
    ? listFilters({ address, http }, { kind, ...range }, signal)
    : null;
  try {
    let next = await filters?.next();
    for await (const entry of entries) {
      while (next?.done === false && next.value.start < entry.start) next = await filters?.next();
      const found = next?.done === false && next.value.start === entry.start ? next.value : null;
      const filter = found === null ? null : trusted(found, entry, keys);
      yield {
        entry,
        load: filter === null || canHold(filter, wanted),
        by: filter === null ? 'none' : 'filter',
        filterBytes: found?.bytes ?? 0,
      };
    }
  } finally {
    await filters?.return(undefined);
  }
}

/** The filter of an entry's file, if that was signed for it. */
function trusted(
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
