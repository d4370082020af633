import { createHash } from 'node:crypto';
import { filterKey, filterOfBundle, hasFilter } from '@packhouse/bundle';
import type { BundleRow, NewBundle } from '@packhouse/database';
import type { FilterFile } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import { putVerified } from './put-verified.js';

interface PutFilterParts {
  context: Pick<Context, 'logger' | 'metrics'>;
  objectStore: ObjectStore;
}

/**
 * Makes the filter of a bundle and writes it beside the bundle; safe to repeat. Null for kinds without filters, and for
 * records that no filter can be made of: such a bundle is published without, and is loaded by everybody.
 * Throws OBJECT_MISMATCH, and errors of the store.
 */
export async function putFilter(
  { context, objectStore }: PutFilterParts,
  bundle: Pick<BundleRow | NewBundle, 'kind' | 'start' | 'end' | 'fragments' | 'objectKey'>,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<FilterFile | null> {
  const { kind, start, end, fragments, objectKey } = bundle;
  if (!hasFilter(kind)) return null;
  let filter: Buffer;
  try {
    filter = Buffer.from(await filterOfBundle({ kind, fragments, bytes }));
  } catch (error) {
    if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
    context.logger.warn({ kind, start, end, err: error }, 'no filter can be made of a bundle');
    return null;
  }
  const sha256 = createHash('sha256').update(filter).digest('hex');
  const contentType = 'application/octet-stream';
  await putVerified(
    objectStore,
    { key: filterKey(objectKey), bytes: filter, sha256, contentType, metadata: {} },
    signal,
  );
  context.metrics
    .counter('packhouse_filter_bytes_total', 'Bytes of filters written beside bundles', ['kind'])
    .inc({ kind }, filter.length);
  return { bytes: filter.length, sha256 };
}
