import { createHash } from 'node:crypto';
import type { NewBundle } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { PackhouseError } from '@packhouse/runtime';

/**
 * Writes a bundle's object. The store's own checksum verifies it where it has one, else it is read back. Throws
 * OBJECT_MISMATCH and what the store throws.
 */
export async function putVerified(
  store: ObjectStore,
  row: NewBundle,
  body: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const { verified } = await store.put(row.objectKey, body, {
    sha256: row.sha256,
    contentType: 'application/gzip',
    metadata: {
      range: `${row.start}-${row.end}`,
      'first-block-hash': row.firstHash,
      'last-block-hash': row.lastHash,
      'format-version': String(row.formatVersion),
    },
    signal,
  });
  if (verified) return;
  const back = createHash('sha256')
    .update(await store.read(row.objectKey, { signal }))
    .digest('hex');
  if (back === row.sha256) return;
  throw new PackhouseError({
    code: 'OBJECT_MISMATCH',
    message: `Object ${row.objectKey} in ${store.description} was read back with sha256 ${back}, but ${row.sha256} was written.`,
    hint: 'Nothing was published; it is written again. If this goes on, the store damages data.',
    data: { key: row.objectKey, expected: row.sha256, got: back },
  });
}
