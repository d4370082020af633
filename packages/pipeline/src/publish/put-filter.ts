import { hash } from 'node:crypto';
import { filterKey, filterOfBundle } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { BundleRow, Database, NewBundle } from '@packhouse/database';
import { type FilterFile, type Signer, sealFilter } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { type SignerSource, withSigner } from './sign.js';

interface PutFilterParts {
  context: Pick<Context, 'logger' | 'metrics'>;
  objectStore: ObjectStore;
}

type Filtered = Pick<BundleRow | NewBundle, 'kind' | 'firstBlock' | 'lastBlock' | 'fragments' | 'objectKey'>;

/**
 * Makes the filter of a new bundle, of the items of its fragments where they are known, and writes it beside the bundle;
 * safe to repeat. Null for blocks, which have their times themselves, and
 * for records that no filter can be made of: such a bundle is published without, and is loaded by everybody.
 * Throws OBJECT_MISMATCH, OBJECT_EXISTS if another filter is there, and errors of the store.
 */
export async function putFilter(
  parts: PutFilterParts,
  bundle: Filtered,
  { bytes, ...known }: { bytes: Buffer; items?: readonly (Buffer | null)[]; times: readonly number[] | null },
  signal: AbortSignal,
): Promise<FilterFile | null> {
  const filter = await makeFilter(parts, bundle, bytes, known);
  return filter === null ? null : write(parts, bundle, { bytes: filter, once: true }, signal);
}

/**
 * Makes the filter of a published bundle, whose entry stays as it is: writes it, and then its row. `expected` is the
 * filter that the row names now: if what is made is another one, or without it, the object is signed by itself.
 * Returns false where `putFilter` returns null. Throws as `putFilter`, and errors of the database.
 */
export async function putFilterLater(
  parts: PutFilterParts & { database: Database; signers?: SignerSource | undefined },
  row: BundleRow,
  { bytes, expected, times }: { bytes: Buffer; expected: FilterFile | null; times: readonly number[] | null },
  signal: AbortSignal,
): Promise<boolean> {
  const filter = await makeFilter(parts, row, bytes, { times });
  if (filter === null) return false;
  const seal = async (signer: Signer | undefined): Promise<Buffer> =>
    signer === undefined ? filter : sealFilter(filter, row.sha256, signer);
  const object = hash('sha256', filter) === expected?.sha256 ? filter : await withSigner(parts.signers, seal);
  const file = await write(parts, row, { bytes: object, once: false }, signal);
  await parts.database.network(row.network).bundleFilters.put(row, file);
  return true;
}

async function makeFilter(
  { context }: PutFilterParts,
  { kind, firstBlock, lastBlock, fragments }: Filtered,
  bytes: Buffer,
  known: Parameters<typeof filterOfBundle>[1],
): Promise<Buffer | null> {
  if (kind === 'blocks') return null;
  try {
    return Buffer.from(await filterOfBundle({ kind, fragments, bytes }, known));
  } catch (error) {
    if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
    context.logger.warn(
      { kind, from: firstBlock, to: lastBlock, err: error },
      'no filter can be made of a bundle',
    );
    return null;
  }
}

async function write(
  { context, objectStore }: PutFilterParts,
  { kind, objectKey }: { kind: Kind; objectKey: string },
  { bytes, once }: { bytes: Buffer; once: boolean },
  signal: AbortSignal,
): Promise<FilterFile> {
  const sha256 = hash('sha256', bytes);
  const contentType = 'application/octet-stream';
  await putVerified(
    objectStore,
    { key: filterKey(objectKey), bytes, sha256, contentType, metadata: {}, once },
    signal,
  );
  context.metrics.count(
    'packhouse_filter_bytes_total',
    'Bytes of filters written beside bundles',
    { kind },
    bytes.length,
  );
  return { bytes: bytes.length, sha256 };
}

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
