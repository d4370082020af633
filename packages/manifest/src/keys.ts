import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { PackhouseError } from '@packhouse/runtime';
import { manifestInvalid, type Seal } from './entry-form.js';
import { type LogEntry, logEntryText } from './lake-entry.js';

const RAW_BYTES = 32;
const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

/** Generates a private key for signing entries, as PEM (PKCS #8). */
export function makeSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
}

/** Reads a private key from PEM; `name` is for messages. Throws SIGNING_KEY_INVALID, which never contains the key. */
export function readSigningKey(pem: string, name: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // OpenSSL's message might repeat parts of the file.
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new PackhouseError({
    code: 'SIGNING_KEY_INVALID',
    message: `The signing key file ${name} holds no ed25519 private key in PEM form.`,
    hint: 'Put the file back from its copy; if there is none, move this one away and run `packhouse manifest rotate`.',
  });
}

/** Seals entries with one key. */
export interface Signer {
  readonly keyId: string;
  /** 32 raw bytes. */
  readonly publicKey: Buffer;
  /** The `producer` of its entries. */
  readonly producer: string;
  /** Adds hash and signature to an entry; its keyId must be this signer's. About 0.1 ms. */
  seal<T extends LogEntry>(entry: T): T & Seal;
  /** The signature of a text, 64 bytes. */
  sign(text: string): Buffer;
}

/** Creates a signer; inspecting it does not show the key. */
export function createSigner(privateKey: KeyObject, producer: string): Signer {
  const publicKey = rawPublicKey(privateKey);
  return {
    keyId: getKeyId(publicKey),
    publicKey,
    producer,
    sign: (text) => sign(null, Buffer.from(text), privateKey),
    seal(entry) {
      const text = Buffer.from(logEntryText(entry));
      return {
        ...entry,
        hash: createHash('sha256').update(text).digest('hex'),
        signature: sign(null, text, privateKey).toString('base64'),
      };
    },
  };
}

/**
 * Reads public keys by their ids: the document of `/.well-known/packhouse-manifest-keys.json`, or PEM. `name` is for
 * messages. Throws MANIFEST_INVALID.
 */
export function readPublicKeys(text: string, name: string): Map<string, KeyObject> {
  try {
    const raw = text.trimStart().startsWith('{') ? documentKeys(text) : pemKeys(text);
    if (raw.length > 0) return new Map(raw.map((bytes) => [getKeyId(bytes), toPublicKey(bytes)]));
  } catch {
    // Reported below.
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
    if (getKeyId(raw) !== keyId) throw new RangeError('the id is not that of the key');
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

/** The 32 raw bytes of the public half of a key. */
function rawPublicKey(key: KeyObject): Buffer {
  // createPublicKey takes a private key only.
  const { x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return Buffer.from(x as string, 'base64url');
}

/** The public key of 32 raw bytes. Throws RangeError. */
export function toPublicKey(raw: Buffer): KeyObject {
  if (raw.length !== RAW_BYTES) throw new RangeError(`an ed25519 public key has 32 bytes, not ${raw.length}`);
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
}

/** The id of a public key: the first 16 hex digits of the SHA-256 of its raw bytes. */
export function getKeyId(raw: Buffer): string {
  return createHash('sha256').update(raw).digest('hex').slice(0, 16);
}

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
