import { createHash, randomBytes, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new API key: `ph_`, 8 letters and digits that may be shown, `_`, 32 random bytes in base64url. */
export function makeKey(): { key: string; prefix: string; sha256: Buffer } {
  let id = '';
  while (id.length < 8) id += BASE62[randomInt(BASE62.length)];
  const prefix = `ph_${id}`;
  const key = `${prefix}_${randomBytes(32).toString('base64url')}`;
  return { key, prefix, sha256: createHash('sha256').update(key).digest() };
}
