import { PackhouseError } from '@packhouse/runtime';

/** The error of a reader that met bytes that are not a bundle; `what` is a whole sentence. */
export function bundleInvalid(what: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'BUNDLE_INVALID',
    message: what,
    hint: 'The file is damaged, cut off, or was not made by Packhouse; fetch it again.',
    cause,
  });
}
