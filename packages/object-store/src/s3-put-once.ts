import { hash } from 'node:crypto';
import { checkSame } from './checks.js';
import type { PutOptions } from './object-store.js';
import { findObject, getObject, putObject, readBody, type S3Place } from './s3-calls.js';
import { isRefusal } from './s3-checksums.js';

/** An object that only shows whether the store knows the condition. */
const PROBE_KEY = 'put-once-probe';
const PROBE = Buffer.from('Whether this store refuses to replace an object.\n');
const ABSENT = { IfNoneMatch: '*' };

/**
 * Creates a put that replaces no object with other bytes: it is sent with `If-None-Match: *`, and if the store refuses
 * it, what is there is compared. That costs no request; only the first put of a process is preceded by one for the
 * probe. A store that ignores or does not know the condition gets a HEAD before each put instead.
 */
export function createPutOnce() {
  let conditional: Promise<boolean> | undefined;
  return async (
    place: S3Place,
    key: string,
    body: Buffer,
    options: PutOptions,
  ): Promise<{ verified: boolean }> => {
    conditional ??= knowsCondition(place);
    const known = await conditional.catch((error: unknown) => {
      conditional = undefined;
      throw error;
    });
    if (known) {
      const put = await ifAbsent(putObject(place, key, body, options, ABSENT));
      if (put !== 'exists') return put;
    }
    const got = await keptSha256(place, key, options.signal);
    if (got !== null) checkSame(key, place.description, { expected: options.sha256, got });
    // As an earlier try left it, and maybe damaged.
    return putObject(place, key, body, options);
  };
}

async function knowsCondition(place: S3Place): Promise<boolean> {
  const options = { sha256: hash('sha256', PROBE), contentType: 'text/plain', metadata: {} };
  const probe = () => ifAbsent(putObject(place, PROBE_KEY, PROBE, options, ABSENT));
  try {
    return (await probe()) === 'exists' || (await probe()) === 'exists';
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

async function ifAbsent<T>(put: Promise<T>): Promise<T | 'exists'> {
  try {
    return await put;
  } catch (error) {
    if (toStatus(error) === 412) return 'exists';
    throw error;
  }
}

/** The SHA-256 (hex) of an object, read if the store does not have it; null: there is no object. */
async function keptSha256(
  place: S3Place,
  key: string,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  try {
    const { sha256 } = await findObject(place, key, signal);
    if (sha256 !== undefined) return sha256;
    const bytes = await readBody(await getObject(place, key, { signal }));
    if (!Buffer.isBuffer(bytes)) throw bytes.broken;
    return hash('sha256', bytes);
  } catch (error) {
    if (toStatus(error) === 404) return null;
    throw error;
  }
}

function toStatus(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
