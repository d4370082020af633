import { hash, type KeyObject, verify } from 'node:crypto';
import type { Signer } from './keys.js';

/** Id of the key (8 bytes) and signature (64). */
const SEAL_BYTES = 72;
const KEY_ID_BYTES = 8;

/** The object of a filter that no entry names: its bytes, and who signed them for the bundle with this hash. */
export function sealFilter(filter: Uint8Array, bundleSha256: string, signer: Signer): Buffer {
  const keyId = Buffer.from(signer.keyId, 'hex');
  return Buffer.concat([filter, keyId, signer.sign(toText(filter, bundleSha256))]);
}

/** Whether an object is a filter of `length` bytes that one of these keys signed for the bundle with this hash. */
export function checkFilterSeal(
  object: Uint8Array,
  length: number,
  bundleSha256: string,
  keys: ReadonlyMap<string, KeyObject>,
): boolean {
  if (object.length !== length + SEAL_BYTES) return false;
  const keyId = Buffer.from(object.subarray(length, length + KEY_ID_BYTES)).toString('hex');
  const key = keys.get(keyId);
  const text = toText(object.subarray(0, length), bundleSha256);
  return key !== undefined && verify(null, Buffer.from(text), key, object.subarray(length + KEY_ID_BYTES));
}

function toText(filter: Uint8Array, bundleSha256: string): string {
  return `packhouse-filter-1 ${bundleSha256} ${hash('sha256', filter, 'hex')}`;
}
