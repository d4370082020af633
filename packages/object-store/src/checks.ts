import { PackhouseError } from '@packhouse/runtime';
import type { ByteRange, ExpectedObject, PutOptions } from './object-store.js';

/* All stores use the same checks: an object that one store accepts, all accept. */

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
/** S3's own limit, in bytes; keys are ASCII. */
const MAX_KEY_BYTES = 1_024;

/** Throws NAME_INVALID unless the key is segments of `[A-Za-z0-9._-]`, none with a dot in front, joined by `/`. */
export function checkKey(key: string): void {
  if (key.length > MAX_KEY_BYTES || !key.split('/').every((segment) => SEGMENT.test(segment))) {
    throw invalid('a key', key, 'segments of A-Z a-z 0-9 . _ - joined by /, none starting with a dot');
  }
}

/** Throws NAME_INVALID unless a key may begin with the prefix; it may be empty and may end anywhere. */
export function checkPrefix(prefix: string): void {
  const segments = prefix.split('/');
  const last = segments.pop() as string;
  const whole = segments.every((segment) => SEGMENT.test(segment)) && (last === '' || SEGMENT.test(last));
  if (prefix.length > MAX_KEY_BYTES || !whole) {
    throw invalid('a key prefix', prefix, 'the beginning of a key');
  }
}

function invalid(what: string, text: string, expected: string): PackhouseError {
  return new PackhouseError({
    code: 'NAME_INVALID',
    message: `${JSON.stringify(text.slice(0, 200))} is not ${what} of an object store, expected ${expected}.`,
  });
}

const SHA256 = /^[0-9a-f]{64}$/;
const NAME = /^[a-z0-9][a-z0-9-]*$/;
const VALUE = /^[\x20-\x7e]*$/;
/** S3's limit for all names and values together, minus the store's own entries. */
const MAX_METADATA_BYTES = 1_900;

/** Throws NAME_INVALID for the key, INTERNAL for options that only a bug can produce. */
export function checkPut(key: string, options: PutOptions): void {
  checkKey(key);
  let bytes = 0;
  let wrong = SHA256.test(options.sha256) ? null : `a sha256 of 64 hex digits, got "${options.sha256}"`;
  for (const [name, value] of Object.entries(options.metadata)) {
    bytes += name.length + value.length;
    if (!NAME.test(name) || name === 'sha256') {
      wrong = `metadata names of a-z, 0-9 and -, other than sha256, got "${name}"`;
    } else if (!VALUE.test(value) || value.trim() !== value) {
      wrong = `metadata values of printable ASCII, got another for "${name}"`;
    }
  }
  if (bytes > MAX_METADATA_BYTES) wrong = `metadata of at most ${MAX_METADATA_BYTES} bytes, got ${bytes}`;
  if (wrong === null) return;
  throw new PackhouseError({ code: 'INTERNAL', message: `Object ${key} cannot be put: expected ${wrong}.` });
}

/** Throws INTERNAL unless the range is one of an HTTP Range header: whole numbers, not reversed. */
export function checkRange(key: string, range: ByteRange | undefined): void {
  if (range === undefined) return;
  const { start, end } = range;
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return;
  throw new PackhouseError({
    code: 'INTERNAL',
    message: `Bytes ${start}-${end} of object ${key} cannot be read: expected whole numbers, the end not before the start.`,
  });
}

/** The error for a range that starts beyond the object's end: the object is not the one that was written. */
export function rangeBeyondEnd(key: string, range: ByteRange, where: string): PackhouseError {
  return new PackhouseError({
    code: 'OBJECT_MISMATCH',
    message: `Bytes ${range.start}-${range.end} of object ${key} were asked of ${where}, but it ends before them.`,
    hint: 'The object was replaced or cut off after it was published; restore it from a copy.',
    data: { key, start: range.start, end: range.end },
  });
}

/** Throws OBJECT_MISMATCH if what a store says of an object, as far as it does, differs from what is expected of it. */
export function checkExpected(
  key: string,
  where: string,
  expected: ExpectedObject | undefined,
  got: Partial<ExpectedObject>,
): void {
  for (const name of ['size', 'sha256'] as const) {
    if (expected === undefined || got[name] === undefined || got[name] === expected[name]) continue;
    throw new PackhouseError({
      code: 'OBJECT_MISMATCH',
      message: `Object ${key} is in ${where} with ${name} ${got[name]}, expected ${expected[name]}.`,
      hint: 'The object was replaced or cut off after it was published; restore it from a copy.',
      data: { key, expected: expected[name], got: got[name] },
    });
  }
}

/** Throws OBJECT_EXISTS if the object under the key of a put has another SHA-256 (hex). */
export function checkSame(key: string, where: string, { expected, got }: Record<'expected' | 'got', string>) {
  if (expected === got) return;
  throw new PackhouseError({
    code: 'OBJECT_EXISTS',
    message: `Object ${key} is in ${where} with sha256 ${got}; it is not replaced by one with sha256 ${expected}.`,
    hint: 'It may be published: run `packhouse adopt`. If no signed entry names it, move it away.',
    data: { key, expected, got },
  });
}

/** The error for an object that does not exist. */
export function objectMissing(key: string, where: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'OBJECT_MISSING',
    message: `There is no object ${key} in ${where}.`,
    data: { key },
    cause,
  });
}

/** Runs calls to a store: an abort throws its signal's reason, and any other error becomes one of the store's. */
export function createGuard<Deed>(toError: (error: unknown, key: string, deed: Deed) => unknown) {
  return async <T>(
    key: string,
    deed: Deed,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      signal?.throwIfAborted();
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw toError(error, key, deed);
    }
  };
}
