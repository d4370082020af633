import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { PackhouseError } from '@packhouse/runtime';
import { checkExpected, rangeBeyondEnd } from './checks.js';
import type { ByteRange, ExpectedObject, ObjectInfo, PutOptions } from './object-store.js';
import type { ChecksumChoice } from './s3-checksums.js';

/** Where the objects of a store are: below `base`, which is empty or ends in a slash. */
export interface S3Place {
  client: S3Client;
  bucket: string;
  base: string;
  /** A store may know their header in one request and not in the other. */
  checksums: { put: ChecksumChoice; head: ChecksumChoice };
  /** For errors. */
  description: string;
}

/** The metadata name of the SHA-256, for stores without checksums. */
const SHA256_NAME = 'sha256';

/** Sends an object with its SHA-256, or its MD5 to stores that do not know SHA-256; throws OBJECT_MISMATCH if the store kept other bytes. */
export async function putObject(
  { client, bucket, base, checksums, description }: S3Place,
  key: string,
  body: Buffer,
  { sha256, contentType, metadata, signal }: PutOptions,
  condition: Pick<PutObjectCommandInput, 'IfNoneMatch'> = {},
): Promise<{ verified: boolean }> {
  const object = {
    Bucket: bucket,
    Key: base + key,
    Body: body,
    ContentLength: body.length,
    ContentType: contentType,
    Metadata: { ...metadata, [SHA256_NAME]: sha256 },
  };
  const answer = await checksums.put.send((known) => {
    // A bucket that locks its objects takes none without an MD5 or the name of the algorithm.
    const checksum = known
      ? {
          ChecksumAlgorithm: 'SHA256' as const,
          ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
        }
      : { ContentMD5: hash('md5', body, 'base64') };
    return client.send(new PutObjectCommand({ ...object, ...checksum, ...condition }), {
      abortSignal: signal,
    });
  });
  const kept = toHex(answer.ChecksumSHA256);
  if (kept !== undefined && kept !== sha256) {
    throw new PackhouseError({
      code: 'OBJECT_MISMATCH',
      message: `${description} keeps object ${key} with SHA-256 ${kept}, expected ${sha256}.`,
      hint: 'The bytes changed on the way or in the store; the work is tried again.',
      data: { key, expected: sha256, got: kept },
    });
  }
  return { verified: kept === sha256 };
}

/** Requests an object or a range of it; its body is still to be read. Throws OBJECT_MISMATCH if it is not the `expected`. */
export async function getObject(
  { client, bucket, base, description }: S3Place,
  key: string,
  {
    range,
    expected,
    signal,
  }: {
    range?: ByteRange | undefined;
    expected?: ExpectedObject | undefined;
    signal: AbortSignal | undefined;
  },
): Promise<GetObjectCommandOutput> {
  let answer: GetObjectCommandOutput | undefined;
  try {
    answer = await client.send(
      new GetObjectCommand({
        Bucket: bucket,
        Key: base + key,
        Range: range === undefined ? undefined : `bytes=${range.start}-${range.end}`,
      }),
      { abortSignal: signal },
    );
    checkExpected(key, description, expected, getFacts(answer));
    return answer;
  } catch (error) {
    (answer?.Body as Readable | undefined)?.destroy();
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (range !== undefined && status === 416) throw rangeBeyondEnd(key, range, description);
    throw error;
  }
}

/** What an answer says of the whole object; a store of another kind may say nothing. */
function getFacts({
  ContentRange,
  ContentLength,
  Metadata,
}: GetObjectCommandOutput): Partial<ExpectedObject> {
  const [, total] = /^bytes [^/]*\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  return {
    size: ContentRange === undefined ? ContentLength : total === undefined ? undefined : Number(total),
    sha256: Metadata?.[SHA256_NAME],
  };
}

/** The bytes of an answer, or why it broke off. */
export async function readBody(answer: GetObjectCommandOutput): Promise<Buffer | { broken: unknown }> {
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
}

/** What is known of an object; throws the SDK's error if there is none. */
export async function findObject(
  { client, bucket, base, checksums }: S3Place,
  key: string,
  signal: AbortSignal | undefined,
): Promise<ObjectInfo> {
  const answer = await checksums.head.send((known) => {
    const ChecksumMode = known ? 'ENABLED' : undefined;
    const command = new HeadObjectCommand({ Bucket: bucket, Key: base + key, ChecksumMode });
    return client.send(command, { abortSignal: signal });
  });
  const { [SHA256_NAME]: claimed, ...metadata } = answer.Metadata ?? {};
  const sha256 = toHex(answer.ChecksumSHA256) ?? claimed;
  const { ContentLength: size = 0, LastModified: modifiedAt } = answer;
  return { key, size, metadata, modifiedAt, sha256 };
}

/** Up to 1,000 keys of a prefix, behind `after` or from where the page with this token ended. */
export async function listPage(
  { client, bucket, base }: S3Place,
  prefix: string,
  after: string | undefined,
  token: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ListObjectsV2CommandOutput> {
  const command = new ListObjectsV2Command({
    Bucket: bucket,
    Prefix: base + prefix,
    StartAfter: after === undefined || after === '' ? undefined : base + after,
    ContinuationToken: token,
  });
  return client.send(command, { abortSignal: signal });
}

/** A checksum in S3's form as hex; undefined if it is absent or that of an object in parts (`…-3`). */
function toHex(checksum: string | undefined): string | undefined {
  if (checksum === undefined) return undefined;
  const bytes = Buffer.from(checksum, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === checksum ? bytes.toString('hex') : undefined;
}
