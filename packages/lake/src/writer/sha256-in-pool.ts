import { webcrypto } from 'node:crypto';

/** The SHA-256 of bytes in hex, made by a thread of Node's pool: what hashes at once keeps all others waiting. */
export async function sha256InPool(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}
