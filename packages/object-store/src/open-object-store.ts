import { type Context, isPackhouseError, PackhouseError, redact } from '@packhouse/runtime';
import { createDiskStore } from './create-disk-store.js';
import type { ObjectStore } from './object-store.js';
import type { S3Connection } from './s3-client.js';

interface OpenObjectStoreOptions extends S3Connection {
  context?: Pick<Context, 'logger' | 'clock'> | undefined;
}

/** Amazon's rules for bucket names, except those that only the owner of a name can break. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

function invalid(uri: string, wrong: string): PackhouseError {
  return new PackhouseError({
    code: 'OBJECT_STORE_INVALID',
    message: `OBJECT_STORE "${redact(uri).slice(0, 200)}" ${wrong}.`,
    hint: 'Write s3://bucket/prefix, or the path of a folder; credentials go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  });
}

/**
 * Opens the store that an address names: `s3://bucket`, `s3://bucket/prefix`, `disk:PATH` or a path.
 *
 * Throws OBJECT_STORE_INVALID for anything else, and what `createDiskStore` throws.
 */
export async function openObjectStore(
  uri: string,
  options: OpenObjectStoreOptions = {},
): Promise<ObjectStore> {
  const { context, ...connection } = options;
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1]?.toLowerCase();
  if (scheme === 's3') {
    const [, rest] = /^s3:\/\/(.*)$/is.exec(uri) ?? [];
    if (rest === undefined) throw invalid(uri, 'lacks the two slashes of s3://bucket/prefix');
    const [bucket = '', ...segments] = rest.split('/');
    const prefix = segments.join('/').replace(/\/$/, '');
    if (!BUCKET.test(bucket)) throw invalid(uri, 'does not name a bucket of 3 to 63 characters a-z 0-9 . -');
    if (prefix !== '' && !PREFIX.test(prefix)) throw invalid(uri, 'has a prefix that no key can begin with');
    // Loading the SDK takes a third of a second, which a store on disk does not need.
    const { createS3Store } = await import('./create-s3-store.js');
    return createS3Store({ bucket, prefix, ...connection });
  }
  if (scheme !== undefined && scheme !== 'disk')
    throw invalid(uri, `has the scheme "${scheme}", expected s3 or disk`);
  const directory = scheme === 'disk' ? uri.slice('disk:'.length) : uri;
  if (directory.trim() === '' || directory.includes('\0')) throw invalid(uri, 'names no folder');
  return createDiskStore({ directory, context });
}

/** An object that is never written. */
const PROBE_KEY = 'readiness-probe';

/**
 * Resolves if the store serves objects to this process. Reads, because the answer of a `head` has no body, so that a
 * missing bucket would look like a missing object. Throws OBJECT_STORE_UNAVAILABLE, OBJECT_STORE_INVALID.
 */
export async function probeStore(store: ObjectStore, signal?: AbortSignal): Promise<void> {
  try {
    await store.read(PROBE_KEY, { signal });
  } catch (error) {
    if (!isPackhouseError(error, 'OBJECT_MISSING')) throw error;
  }
}
