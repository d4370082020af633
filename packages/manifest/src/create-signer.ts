import { createHash, type KeyObject, sign } from 'node:crypto';
import type { ManifestEntry, SealedEntry } from './entry.js';
import { entryText } from './entry-text.js';
import { keyIdOf, rawPublicKey } from './signing-key.js';

/** Seals entries with one key. */
export interface Signer {
  readonly keyId: string;
  /** 32 raw bytes. */
  readonly publicKey: Buffer;
  /** What entries name as their producer. */
  readonly producer: string;
  /** Hash and signature of an entry; its keyId must be this signer's. About 0.1 ms. */
  seal(entry: ManifestEntry): SealedEntry;
}

/** Makes a signer; the key stays inside of it and is shown by no inspection of it. */
export function createSigner(privateKey: KeyObject, producer: string): Signer {
  const publicKey = rawPublicKey(privateKey);
  return {
    keyId: keyIdOf(publicKey),
    publicKey,
    producer,
    seal(entry) {
      const text = Buffer.from(entryText(entry));
      return {
        ...entry,
        hash: createHash('sha256').update(text).digest('hex'),
        signature: sign(null, text, privateKey).toString('base64'),
      };
    },
  };
}
