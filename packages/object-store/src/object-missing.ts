import { PackhouseError } from '@packhouse/runtime';

/** The error for an object that is not there. */
export function objectMissing(key: string, where: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'OBJECT_MISSING',
    message: `There is no object ${key} in ${where}.`,
    data: { key },
    cause,
  });
}
