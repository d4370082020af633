import { PackhouseError } from '@packhouse/runtime';

/** The error of a manifest that is not what was published; `message` is a whole sentence. */
export function manifestInvalid(
  message: string,
  data: Record<string, unknown> = {},
  hint = 'Download the manifest again; if it stays so, ask its publisher.',
): PackhouseError {
  return new PackhouseError({ code: 'MANIFEST_INVALID', message, hint, data });
}
