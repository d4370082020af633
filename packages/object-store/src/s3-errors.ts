import { getCertificateHint, PackhouseError, redact } from '@packhouse/runtime';
import { objectMissing } from './checks.js';

/** The words for an operation on an object, or on the store itself, in messages. */
export type S3Deed =
  | 'read from'
  | 'written to'
  | 'deleted from'
  | 'listed in'
  | 'looked up in'
  | 'given an address in';

const MISSING = new Set(['NoSuchKey', 'NotFound']);
const MISMATCH = new Set([
  'BadDigest',
  'InvalidDigest',
  'XAmzContentChecksumMismatch',
  'XAmzContentSHA256Mismatch',
  'IncompleteBody',
  'InvalidRange',
]);
/** Errors that a retry may fix, whatever their status: RequestTimeout is a 400. */
const PASSING = new Set([
  'RequestTimeout',
  'SlowDown',
  'ServiceUnavailable',
  'InternalError',
  'OperationAborted',
  'ConditionalRequestConflict',
]);

/** The SDK's names of configuration errors, raised before or without a response. */
const SETUP: Record<string, string> = {
  CredentialsProviderError:
    'No credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else the AWS SDK takes.',
  TokenProviderError: 'The credentials have run out: renew them.',
  NoSuchBucket: 'There is no such bucket: correct OBJECT_STORE, or make the bucket.',
  InvalidAccessKeyId: 'The store does not know this access key: correct AWS_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: 'The secret does not fit the access key: correct AWS_SECRET_ACCESS_KEY.',
  ExpiredToken: 'The session token has run out: renew the credentials.',
  RequestTimeTooSkewed: 'The clock of this machine is wrong: correct it.',
  AccessDenied:
    'The credentials lack a right: s3:GetObject, PutObject, DeleteObject and ListBucket are needed.',
  PermanentRedirect: 'The bucket is in another region: correct AWS_REGION.',
  AuthorizationHeaderMalformed: 'The bucket is in another region: correct AWS_REGION.',
  NotImplemented: 'The store does not know a part of the request: set S3_CHECKSUMS to auto or md5.',
};

/** The name of the error from S3, the SDK or the system. */
function toName(error: { name?: unknown; code?: unknown; Code?: unknown; message?: unknown }): string {
  if (error.message === 'Region is missing') return 'RegionMissing';
  for (const name of [error.Code, error.name, error.code]) {
    if (
      typeof name === 'string' &&
      /^[A-Za-z0-9_]+$/.test(name) &&
      name !== 'Error' &&
      name !== 'UnknownError'
    ) {
      return name;
    }
  }
  return typeof error.code === 'string' ? error.code : 'UnknownError';
}

/**
 * Converts an error of the SDK or of the network; a PackhouseError is returned unchanged.
 *
 * The SDK's error is not kept as the cause: it contains the request with its signature and the access key.
 */
export function s3Error(error: unknown, key: string, deed: S3Deed, where: string): PackhouseError {
  if (error instanceof PackhouseError) return error;
  const from = error as Error & { $metadata?: { httpStatusCode?: number; attempts?: number } };
  const name = toName(from);
  const status = from.$metadata?.httpStatusCode;
  const attempts = from.$metadata?.attempts ?? 1;
  const cause = new Error(redact(String(from.message)).slice(0, 300));
  cause.name = name;

  // Another 404 is about the bucket, the user or the address: nothing is known of the object.
  if (MISSING.has(name)) return objectMissing(key, where, cause);
  const got = [name, ...(status === undefined ? [] : [`status ${status}`])].join(', ');
  const tries = attempts > 1 ? ` after ${attempts} attempts` : '';
  const said = (
    code: 'OBJECT_MISMATCH' | 'OBJECT_STORE_INVALID' | 'OBJECT_STORE_UNAVAILABLE' | 'DISK_FULL',
    hint: string,
  ) =>
    new PackhouseError({
      code,
      message: `${key} could not be ${deed} ${where}${tries}: ${got}.`,
      hint,
      data: { key, name, status, attempts },
      cause,
    });

  if (MISMATCH.has(name) || status === 416) {
    return said('OBJECT_MISMATCH', 'The bytes changed on the way or in the store; the work is tried again.');
  }
  if (name === 'RegionMissing')
    return said('OBJECT_STORE_INVALID', 'Set AWS_REGION to the region of the bucket.');
  const setup = SETUP[name];
  if (setup !== undefined) return said('OBJECT_STORE_INVALID', setup);
  if (status === 507 || name === 'XMinioStorageFull') {
    return said('DISK_FULL', 'Free space in the object store; the work is tried again.');
  }
  if (
    status !== undefined &&
    status >= 300 &&
    status < 500 &&
    status !== 429 &&
    status !== 408 &&
    !PASSING.has(name)
  ) {
    return said('OBJECT_STORE_INVALID', 'Check OBJECT_STORE, S3_ENDPOINT and the credentials.');
  }
  const hint = getCertificateHint(error);
  if (hint !== undefined) return said('OBJECT_STORE_INVALID', hint);
  return said(
    'OBJECT_STORE_UNAVAILABLE',
    'Check that the store can be reached from here; the work is tried again.',
  );
}
