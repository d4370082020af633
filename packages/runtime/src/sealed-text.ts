import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text by a key that is derived from `seal`, the key of the installation, and a purpose. */
export function sealText(seal: Buffer, purpose: string, text: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(seal, purpose), iv);
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), bytes]);
}

/** Null: it was sealed by another key or for another purpose, or is damaged. */
export function openText(seal: Buffer, purpose: string, sealed: Buffer): string | null {
  if (sealed.length < IV_BYTES + TAG_BYTES) return null;
  const iv = sealed.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(CIPHER, deriveKey(seal, purpose), iv, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const bytes = decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([bytes, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function deriveKey(seal: Buffer, purpose: string): Buffer {
  return createHmac('sha256', seal).update(`packhouse ${purpose}`).digest();
}
