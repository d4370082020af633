import { hash, type KeyObject } from 'node:crypto';
import { filterBytes, filterKey, findFragments, objectKey } from '@packhouse/bundle';
import type { NewBundle } from '@packhouse/database';
import { checkFilterSeal, type FilterFile, type SealedEntry } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { FORMAT_VERSION } from '@packhouse/pipeline';
import { isPackhouseError } from '@packhouse/runtime';
import { readIfStored } from '../audit/read-if-stored.js';

/** The key of the file that an entry names. */
export function keyOfEntry({ network, kind, from, to, version }: SealedEntry): string {
  return objectKey({ network, kind, firstBlock: from, lastBlock: to, version });
}

/** The row of a published bundle as its file and its entry make it, or what is wrong with the file: a sentence. */
type Published = { bundle: NewBundle } | { fault: string; missing: boolean };

/** Reads the file that an entry names, and makes the row of it. Throws errors of the store. */
export async function readPublished(
  { objectStore, keys }: { objectStore: ObjectStore; keys: ReadonlyMap<string, KeyObject> },
  entry: SealedEntry,
  signal: AbortSignal,
): Promise<Published> {
  const key = keyOfEntry(entry);
  const range = { firstBlock: entry.from, lastBlock: entry.to };
  const bytes = await readIfStored(objectStore, key, { signal });
  if (bytes === null)
    return { missing: true, fault: `The object ${key} is not in ${objectStore.description}.` };
  const sha256 = hash('sha256', bytes);
  if (sha256 !== entry.sha256) {
    const fault = `The object ${key} has SHA-256 ${sha256}, and its signed entry ${entry.sequence} names ${entry.sha256}.`;
    return { missing: false, fault };
  }
  try {
    const filter = await findFilter({ objectStore, keys }, entry, signal);
    return {
      bundle: {
        kind: entry.kind,
        ...range,
        objectKey: key,
        byteLength: bytes.length,
        rawLength: entry.rawBytes,
        sha256,
        firstHash: entry.firstHash,
        firstParentHash: entry.firstParentHash,
        lastHash: entry.lastHash,
        proofs: entry.proofs,
        ...(entry.notProved === undefined ? {} : { notProved: entry.notProved }),
        ...(filter === null ? {} : { filter }),
        fragments: await findFragments(bytes, range),
        formatVersion: FORMAT_VERSION,
      },
    };
  } catch (error) {
    if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
    return { missing: false, fault: `The object ${key} was published damaged: ${error.message}` };
  }
}

/** The filter beside a bundle, if the entry names it, or a key signed it later. */
async function findFilter(
  { objectStore, keys }: { objectStore: ObjectStore; keys: ReadonlyMap<string, KeyObject> },
  entry: SealedEntry,
  signal: AbortSignal,
): Promise<FilterFile | null> {
  // Blocks never have one.
  if (entry.kind === 'blocks') return null;
  const object = await readIfStored(objectStore, filterKey(keyOfEntry(entry)), { signal });
  if (object === null) return null;
  const found = { bytes: object.length, sha256: hash('sha256', object) };
  if (found.sha256 === entry.filter?.sha256) return found;
  try {
    return checkFilterSeal(object, filterBytes(object), entry.sha256, keys) ? found : null;
  } catch {
    // Bytes that are no filter at all.
    return null;
  }
}
