import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts the address of a channel, which may be a secret of its receiver, by the key of the installation. */
export function sealAddress(seal: Buffer, address: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(seal), iv);
  const text = Buffer.concat([cipher.update(address, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]);
}

/** Null: it was encrypted by the key of another installation, or is damaged. */
export function openAddress(seal: Buffer, sealed: Buffer): string | null {
  const iv = sealed.subarray(0, IV_BYTES);
  const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, deriveKey(seal), iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    const text = decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function deriveKey(seal: Buffer): Buffer {
  return createHmac('sha256', seal).update('packhouse notification address').digest();
}
