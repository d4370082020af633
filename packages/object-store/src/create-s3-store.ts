import type { ObjectStore } from './object-store.js';
import type { S3Connection } from './s3-client.js';

export interface S3StoreOptions extends S3Connection {
  bucket: string;
  /** What all keys begin with in the bucket, without slashes at its ends; default none. */
  prefix?: string | undefined;
}

/**
 * Makes a store in a bucket of S3 or of anything that speaks its language; connects with the first call.
 *
 * `put` sends the SHA-256 along, so the store refuses other bytes; it is `verified` where the answer says the same
 * SHA-256, which stores that ignore the header do not. Errors name no credentials. The SDK is loaded here and not
 * with this package: it takes a third of a second, which those who keep bundles on disk need not spend.
 */
export async function createS3Store(options: S3StoreOptions): Promise<ObjectStore> {
  const { s3Store } = await import('./s3-store.js');
  return s3Store(options);
}
