import { hash } from 'node:crypto';
import type { NewBundle } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { PackhouseError } from '@packhouse/runtime';

interface NewObject {
  key: string;
  bytes: Buffer;
  /** Hex. */
  sha256: string;
  contentType: string;
  metadata: Record<string, string>;
  /** See PutOptions. */
  once?: boolean;
}

/**
 * Writes an object. The store's own checksum verifies it if it has one, else it is read back. Throws OBJECT_MISMATCH,
 * OBJECT_EXISTS, and errors of the store.
 */
export async function putVerified(
  store: ObjectStore,
  { key, bytes, ...options }: NewObject,
  signal: AbortSignal,
): Promise<void> {
  const { verified } = await store.put(key, bytes, { ...options, signal });
  if (verified) return;
  const back = hash('sha256', await store.read(key, { signal }));
  if (back === options.sha256) return;
  throw new PackhouseError({
    code: 'OBJECT_MISMATCH',
    message: `Object ${key} in ${store.description} was read back with sha256 ${back}, but ${options.sha256} was written.`,
    hint: 'Nothing was published; it is written again. If this goes on, the store damages data.',
    data: { key, expected: options.sha256, got: back },
  });
}

/** Writes the object of a bundle, as `putVerified`; another object under its key is never replaced. */
export function putBundle(
  store: ObjectStore,
  row: NewBundle,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const metadata = {
    range: `${row.firstBlock}-${row.lastBlock}`,
    'first-block-hash': row.firstHash,
    'last-block-hash': row.lastHash,
    'format-version': String(row.formatVersion),
  };
  const { objectKey: key, sha256 } = row;
  const object = { key, bytes, sha256, contentType: 'application/gzip', metadata, once: true };
  return putVerified(store, object, signal);
}
