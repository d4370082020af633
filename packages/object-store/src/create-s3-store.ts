import { PassThrough, type Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { PackhouseError } from '@packhouse/runtime';
import { checkKey, checkPrefix, checkPut, checkRange, rangeBeyondEnd } from './checks.js';
import type { ByteRange, ObjectStore } from './object-store.js';
import { createPresigner } from './presign-s3.js';
import { createS3Client, type S3Connection } from './s3-client.js';
import { type S3Deed, s3Error } from './s3-errors.js';

/** The metadata name of the SHA-256, for stores without checksums. */
const SHA256_NAME = 'sha256';

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
 * `put` sends the SHA-256, so the store refuses other bytes. It is `verified` if the response repeats the SHA-256,
 * which stores that ignore the header do not. Errors contain no credentials.
 */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const { bucket } = options;
  const base = options.prefix === undefined || options.prefix === '' ? '' : `${options.prefix}/`;
  if (base !== '') checkKey(base.slice(0, -1));
  const client = createS3Client(options);
  const { publicEndpoint } = options;
  const signing =
    publicEndpoint === undefined ? client : createS3Client({ ...options, endpoint: publicEndpoint });
  const presign = createPresigner(signing, bucket);
  const place = options.endpoint === undefined ? '' : ` at ${new URL(options.endpoint).host}`;
  const description = `s3://${bucket}${base === '' ? '' : `/${base.slice(0, -1)}`}${place}`;

  const guarded = async <T>(
    key: string,
    deed: S3Deed,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      signal?.throwIfAborted();
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw s3Error(error, key, deed, description);
    }
  };

  const get = async (
    key: string,
    range: ByteRange | undefined,
    signal: AbortSignal | undefined,
  ): Promise<GetObjectCommandOutput> => {
    try {
      return await client.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: base + key,
          Range: range === undefined ? undefined : `bytes=${range.start}-${range.end}`,
        }),
        { abortSignal: signal },
      );
    } catch (error) {
      const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
      if (range !== undefined && status === 416) throw rangeBeyondEnd(key, range, description);
      throw error;
    }
  };

  const readOnce = async (
    key: string,
    range: ByteRange | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Buffer | { broken: unknown }> => {
    const answer = await get(key, range, signal);
    try {
      const bytes = await (answer.Body as NonNullable<typeof answer.Body>).transformToByteArray();
      const expected = answer.ContentLength;
      if (expected === undefined || bytes.length === expected) {
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      }
      return { broken: new Error(`the answer had ${bytes.length} of ${expected} bytes`) };
    } catch (error) {
      return { broken: error };
    }
  };

  return {
    description,

    put: async (key, body, putOptions) => {
      checkPut(key, putOptions);
      const { sha256, contentType, metadata, signal } = putOptions;
      return guarded(key, 'written to', signal, async () => {
        const answer = await client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: base + key,
            Body: body,
            ContentLength: body.length,
            ContentType: contentType,
            ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
            Metadata: { ...metadata, [SHA256_NAME]: sha256 },
          }),
          { abortSignal: signal },
        );
        const kept = hexOf(answer.ChecksumSHA256);
        if (kept !== undefined && kept !== sha256) {
          throw new PackhouseError({
            code: 'OBJECT_MISMATCH',
            message: `${description} keeps object ${key} with SHA-256 ${kept}, expected ${sha256}.`,
            hint: 'The bytes changed on the way or in the store; the work is tried again.',
            data: { key, expected: sha256, got: kept },
          });
        }
        return { verified: kept === sha256 };
      });
    },

    read: async (key, { range, signal } = {}) => {
      checkKey(key);
      checkRange(key, range);
      return guarded(key, 'read from', signal, async () => {
        for (let attempt = 1; ; attempt++) {
          const bytes = await readOnce(key, range, signal);
          if (Buffer.isBuffer(bytes)) return bytes;
          if (attempt === BODY_ATTEMPTS || signal?.aborted) throw bytes.broken;
        }
      });
    },

    stream: async (key, { range, signal } = {}) => {
      checkKey(key);
      checkRange(key, range);
      return guarded(key, 'read from', signal, async () => {
        const answer = await get(key, range, signal);
        const mapError = (error: unknown): Error => s3Error(error, key, 'read from', description);
        return mappedStream(answer.Body as Readable, mapError, signal);
      });
    },

    head: async (key, { signal } = {}) => {
      checkKey(key);
      try {
        return await guarded(key, 'looked up in', signal, async () => {
          const command = new HeadObjectCommand({ Bucket: bucket, Key: base + key, ChecksumMode: 'ENABLED' });
          const answer = await client.send(command, { abortSignal: signal });
          const { [SHA256_NAME]: claimed, ...metadata } = answer.Metadata ?? {};
          const sha256 = hexOf(answer.ChecksumSHA256) ?? claimed;
          const { ContentLength: size = 0, LastModified: modifiedAt } = answer;
          const found = { key, size, metadata, ...(modifiedAt === undefined ? {} : { modifiedAt }) };
          return sha256 === undefined ? found : { ...found, sha256 };
        });
      } catch (error) {
        if ((error as { code?: unknown }).code === 'OBJECT_MISSING') return null;
        throw error;
      }
    },

    list: async function* (prefix, { after, signal } = {}) {
      checkPrefix(prefix);
      let token: string | undefined;
      do {
        const command = new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: base + prefix,
          StartAfter: after === undefined || after === '' ? undefined : base + after,
          ContinuationToken: token,
        });
        const page = await guarded(prefix === '' ? 'Everything' : prefix, 'listed in', signal, () =>
          client.send(command, { abortSignal: signal }),
        );
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key === undefined) continue;
          const found = { key: Key.slice(base.length), size: Size ?? 0 };
          yield LastModified === undefined ? found : { ...found, modifiedAt: LastModified };
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

/** A checksum in S3's form as hex; undefined if it is absent or that of an object in parts (`…-3`). */
function hexOf(checksum: string | undefined): string | undefined {
  if (checksum === undefined) return undefined;
  const bytes = Buffer.from(checksum, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === checksum ? bytes.toString('hex') : undefined;
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
