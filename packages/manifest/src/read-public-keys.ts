import { createPublicKey, type KeyObject } from 'node:crypto';
import { manifestInvalid } from './manifest-invalid.js';
import { keyIdOf, publicKeyOf, rawPublicKey } from './signing-key.js';

const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

/**
 * Reads public keys by their ids: the document of `/.well-known/packhouse-manifest-keys.json`, or PEM. `name` is said
 * where the text is neither. Throws MANIFEST_INVALID.
 */
export function readPublicKeys(text: string, name: string): Map<string, KeyObject> {
  try {
    const raw = text.trimStart().startsWith('{') ? documentKeys(text) : pemKeys(text);
    if (raw.length > 0) return new Map(raw.map((bytes) => [keyIdOf(bytes), publicKeyOf(bytes)]));
  } catch {
    // Said below.
  }
  throw manifestInvalid(
    `${name} holds no public keys of a manifest.`,
    {},
    'Give the JSON of /.well-known/packhouse-manifest-keys.json, or ed25519 public keys in PEM form.',
  );
}

function documentKeys(text: string): Buffer[] {
  const { keys } = JSON.parse(text) as { keys: { keyId: unknown; publicKey: string }[] };
  return keys.map(({ keyId, publicKey }) => {
    const raw = Buffer.from(publicKey, 'base64');
    if (keyIdOf(raw) !== keyId) throw new RangeError('the id is not that of the key');
    return raw;
  });
}

function pemKeys(text: string): Buffer[] {
  return (text.match(PEM) ?? []).map((pem) => {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') throw new RangeError('not an ed25519 key');
    return rawPublicKey(key);
  });
}
