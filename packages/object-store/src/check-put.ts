import { PackhouseError } from '@packhouse/runtime';
import { checkKey } from './check-key.js';
import type { PutOptions } from './object-store.js';

const SHA256 = /^[0-9a-f]{64}$/;
const NAME = /^[a-z0-9][a-z0-9-]*$/;
const VALUE = /^[\x20-\x7e]*$/;
/** S3's limit for all names and values together, less what the store adds itself. */
const MAX_METADATA_BYTES = 1_900;

/**
 * Throws what every store has to refuse in the same way, so that an object that one takes all take: NAME_INVALID
 * for the key, INTERNAL for facts that only a fault of the program can produce.
 */
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
