import { PassThrough, type Readable } from 'node:stream';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { checkKey, checkPrefix, checkPut, checkRange, createGuard } from './checks.js';
import type { ObjectStore } from './object-store.js';
import { createPresigner } from './presign-s3.js';
import { findObject, getObject, listPage, putObject, readBody, type S3Place } from './s3-calls.js';
import { createChecksumChoice } from './s3-checksums.js';
import { createS3Client, type S3Connection } from './s3-client.js';
import { type S3Deed, s3Error } from './s3-errors.js';
import { createPutOnce } from './s3-put-once.js';

/** Tries of a body that breaks off; the SDK retries only until the headers have arrived. */
const BODY_ATTEMPTS = 3;

export interface S3StoreOptions extends S3Connection {
  bucket: string;
  /** The prefix of all keys in the bucket, without slashes at its ends; default none. */
  prefix?: string | undefined;
}

/**
 * Creates a store in a bucket of S3 or a compatible server; connects at the first call. Throws OBJECT_STORE_INVALID
 * if the endpoint is not an address.
 *
 * `put` sends the SHA-256, or the MD5 (see `checksums`), so the store refuses other bytes. It is `verified` if the response
 * repeats the SHA-256, which stores that do not know the header do not. Errors contain no credentials.
 */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const { bucket } = options;
  const base = options.prefix === undefined || options.prefix === '' ? '' : `${options.prefix}/`;
  if (base !== '') checkKey(base.slice(0, -1));
  const client = createS3Client(options);
  const { publicEndpoint } = options;
  const signing =
    publicEndpoint === undefined ? client : createS3Client({ ...options, endpoint: publicEndpoint });
  const presign = createPresigner(signing, client, bucket);
  const host = options.endpoint === undefined ? '' : ` at ${new URL(options.endpoint).host}`;
  const description = `s3://${bucket}${base === '' ? '' : `/${base.slice(0, -1)}`}${host}`;
  const choose = () => createChecksumChoice(options.checksums);
  const checksums = { put: choose(), head: choose() };
  const place: S3Place = { client, bucket, base, checksums, description };

  const putOnce = createPutOnce();
  const guarded = createGuard<S3Deed>((error, key, deed) => s3Error(error, key, deed, description));

  return {
    description,

    put: async (key, body, putOptions) => {
      checkPut(key, putOptions);
      const { signal } = putOptions;
      return guarded(key, 'written to', signal, () => {
        const put = putOptions.once === true ? putOnce : putObject;
        return put(place, key, body, putOptions);
      });
    },

    read: async (key, { range, signal } = {}) => {
      checkKey(key);
      checkRange(key, range);
      return guarded(key, 'read from', signal, async () => {
        for (let attempt = 1; ; attempt++) {
          const bytes = await readBody(await getObject(place, key, { range, signal }));
          if (Buffer.isBuffer(bytes)) return bytes;
          if (attempt === BODY_ATTEMPTS || signal?.aborted) throw bytes.broken;
        }
      });
    },

    stream: async (key, { range, expected, signal } = {}) => {
      checkKey(key);
      checkRange(key, range);
      return guarded(key, 'read from', signal, async () => {
        const answer = await getObject(place, key, { range, expected, signal });
        const mapError = (error: unknown): Error => s3Error(error, key, 'read from', description);
        return mappedStream(answer.Body as Readable, mapError, signal);
      });
    },

    head: async (key, { signal } = {}) => {
      checkKey(key);
      try {
        return await guarded(key, 'looked up in', signal, () => findObject(place, key, signal));
      } catch (error) {
        if ((error as { code?: unknown }).code === 'OBJECT_MISSING') return null;
        throw error;
      }
    },

    list: async function* (prefix, { after, signal } = {}) {
      checkPrefix(prefix);
      let token: string | undefined;
      do {
        const page = await guarded(prefix === '' ? 'Everything' : prefix, 'listed in', signal, () =>
          listPage(place, prefix, after, token, signal),
        );
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key === undefined) continue;
          yield { key: Key.slice(base.length), size: Size ?? 0, modifiedAt: LastModified };
        }
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },

    presign: async (key, seconds) => {
      checkKey(key);
      return guarded(key, 'given an address in', undefined, () => presign(base + key, seconds));
    },

    delete: async (key) => {
      checkKey(key);
      await guarded(key, 'deleted from', undefined, () =>
        client.send(new DeleteObjectCommand({ Bucket: bucket, Key: base + key })),
      );
    },

    close: async () => {
      client.destroy();
      signing.destroy();
    },
  };
}

/** Passes a stream on; `mapError` converts its errors, and an abort ends it with the signal's reason. */
function mappedStream(
  source: Readable,
  mapError: (error: unknown) => Error,
  signal: AbortSignal | undefined,
): Readable {
  const out = new PassThrough();
  const abort = (): void => {
    const reason: unknown = signal?.reason;
    out.destroy(reason instanceof Error ? reason : new Error(String(reason)));
  };
  source.on('error', (error) => out.destroy(mapError(error)));
  source.on('close', () => {
    if (!source.readableEnded) out.destroy(mapError(new Error('the answer ended early')));
  });
  out.on('close', () => {
    signal?.removeEventListener('abort', abort);
    source.destroy();
  });
  source.pipe(out);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort);
  return out;
}
