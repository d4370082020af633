import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import {
  createSigner,
  getKeyId,
  makeSigningKey,
  readPublicKeys,
  readSigningKey,
  toPublicKey,
} from './keys.js';
import { newSigner } from './testing/make-log.js';

const invalid = expect.objectContaining({ code: 'MANIFEST_INVALID' });

it('tells a key by its public half', () => {
  const raw = newSigner().publicKey;
  expect(raw).toHaveLength(32);
  expect(toPublicKey(raw).export({ format: 'jwk' }).x).toBe(raw.toString('base64url'));
  expect(getKeyId(raw)).toMatch(/^[0-9a-f]{16}$/);
  expect(() => toPublicKey(raw.subarray(1))).toThrow(RangeError);
});

it('shows no private key when it is inspected or written as JSON', () => {
  const pem = makeSigningKey();
  const secret = readSigningKey(pem, 'test').export({ format: 'jwk' }).d as string;
  const signer = createSigner(readSigningKey(pem, 'test'), 'x');
  for (const text of [inspect(signer, { depth: 9, showHidden: true }), JSON.stringify(signer)]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
  }
});

it('reads no other key, and says nothing of what stands in the file, nor in the cause', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
    format: 'pem',
    type: 'pkcs8',
  }) as string;
  for (const text of ['', 'secret words', rsa, makeSigningKey().replace('-----END', '-----AND')]) {
    const read = () => readSigningKey(text, '/keys/signing-key.pem');
    try {
      read();
    } catch (error) {
      expect((error as Error).cause).toBeUndefined();
    }
    expect(read).toThrow(
      expect.objectContaining({
        code: 'SIGNING_KEY_INVALID',
        message: 'The signing key file /keys/signing-key.pem holds no ed25519 private key in PEM form.',
      }),
    );
  }
});

it('reads public keys as the gateway gives them, and as PEM, one or several', () => {
  const raws = [0, 1].map(() => newSigner().publicKey);
  const ids = raws.map(getKeyId);
  const document = { keys: raws.map((raw) => ({ keyId: getKeyId(raw), publicKey: raw.toString('base64') })) };
  expect([...readPublicKeys(JSON.stringify(document), 'x').keys()]).toEqual(ids);
  const pems = raws.map((raw) => toPublicKey(raw).export({ format: 'pem', type: 'spki' }) as string);
  expect([...readPublicKeys(pems.join('\n'), 'x').keys()]).toEqual(ids);
});

it('reads nothing else as public keys: not a private key, not a key under another id', () => {
  const [a, b] = [newSigner().publicKey, newSigner().publicKey];
  const swapped = { keys: [{ keyId: getKeyId(a), publicKey: b.toString('base64') }] };
  const rsa = createPublicKey(
    generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'pem', type: 'spki' }),
  );
  const texts = ['', '{}', '{"keys":[]}', '{"keys":[{}]}', JSON.stringify(swapped), makeSigningKey()];
  texts.push(rsa.export({ format: 'pem', type: 'spki' }) as string);
  for (const text of texts) expect(() => readPublicKeys(text, 'keys.json')).toThrow(invalid);
});
