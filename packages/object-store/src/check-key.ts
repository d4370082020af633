import { PackhouseError } from '@packhouse/runtime';

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
/** S3's own limit, in bytes; keys are ASCII. */
const MAX_KEY_BYTES = 1_024;

function invalid(what: string, text: string, expected: string): PackhouseError {
  return new PackhouseError({
    code: 'NAME_INVALID',
    message: `${JSON.stringify(text.slice(0, 200))} is not ${what} of an object store, expected ${expected}.`,
  });
}

/** Throws NAME_INVALID unless the key is segments of `[A-Za-z0-9._-]`, none with a dot in front, joined by `/`. */
export function checkKey(key: string): void {
  if (key.length > MAX_KEY_BYTES || !key.split('/').every((segment) => SEGMENT.test(segment))) {
    throw invalid('a key', key, 'segments of A-Z a-z 0-9 . _ - joined by /, none starting with a dot');
  }
}

/** Throws NAME_INVALID unless the prefix is what a key may begin with; it may be empty and may end anywhere. */
export function checkPrefix(prefix: string): void {
  const segments = prefix.split('/');
  const last = segments.pop() as string;
  const whole = segments.every((segment) => SEGMENT.test(segment)) && (last === '' || SEGMENT.test(last));
  if (prefix.length > MAX_KEY_BYTES || !whole) {
    throw invalid('a key prefix', prefix, 'the beginning of a key');
  }
}
