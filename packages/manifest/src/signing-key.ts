import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { PackhouseError } from '@packhouse/runtime';

const RAW_BYTES = 32;

/** Makes a private key for signing entries, as PEM (PKCS #8). */
export function makeSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
}

/** Reads a private key from PEM; `name` is said where it is none. Throws SIGNING_KEY_INVALID, which never tells its text. */
export function readSigningKey(pem: string, name: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // What OpenSSL says might repeat parts of the file.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new PackhouseError({
    code: 'SIGNING_KEY_INVALID',
    message: `The signing key file ${name} holds no ed25519 private key in PEM form.`,
    hint: 'Put the file back from its copy; if there is none, move this one away and run `packhouse manifest rotate`.',
  });
}

/** The 32 raw bytes of the public half of a key. */
export function rawPublicKey(key: KeyObject): Buffer {
  // A private key gives its public half; a public one is taken as it is.
  const { x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return Buffer.from(x as string, 'base64url');
}

/** The public key of 32 raw bytes. Throws RangeError. */
export function publicKeyOf(raw: Buffer): KeyObject {
  if (raw.length !== RAW_BYTES) throw new RangeError(`an ed25519 public key has 32 bytes, not ${raw.length}`);
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
}

/** The id of a public key: the first 16 hex digits of the SHA-256 of its raw bytes. */
export function keyIdOf(raw: Buffer): string {
  return createHash('sha256').update(raw).digest('hex').slice(0, 16);
}
