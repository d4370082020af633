import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { createSigner } from './create-signer.js';
import { readPublicKeys } from './read-public-keys.js';
import { keyIdOf, makeSigningKey, publicKeyOf, rawPublicKey, readSigningKey } from './signing-key.js';

const invalid = expect.objectContaining({ code: 'MANIFEST_INVALID' });

it('tells a key by its public half', () => {
  const key = readSigningKey(makeSigningKey(), 'test');
  const raw = rawPublicKey(key);
  expect(raw).toHaveLength(32);
  expect(rawPublicKey(publicKeyOf(raw)).equals(raw)).toBe(true);
  expect(keyIdOf(raw)).toMatch(/^[0-9a-f]{16}$/);
  expect(() => publicKeyOf(raw.subarray(1))).toThrow(RangeError);
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
  const raws = [0, 1].map(() => rawPublicKey(readSigningKey(makeSigningKey(), 'test')));
  const ids = raws.map(keyIdOf);
  const document = { keys: raws.map((raw) => ({ keyId: keyIdOf(raw), publicKey: raw.toString('base64') })) };
  expect([...readPublicKeys(JSON.stringify(document), 'x').keys()]).toEqual(ids);
  const pems = raws.map((raw) => publicKeyOf(raw).export({ format: 'pem', type: 'spki' }) as string);
  expect([...readPublicKeys(pems.join('\n'), 'x').keys()]).toEqual(ids);
});

it('reads nothing else as public keys: not a private key, not a key under another id', () => {
  const [a, b] = [0, 1].map(() => rawPublicKey(readSigningKey(makeSigningKey(), 'test'))) as [Buffer, Buffer];
  const swapped = { keys: [{ keyId: keyIdOf(a), publicKey: b.toString('base64') }] };
  const rsa = createPublicKey(
    generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'pem', type: 'spki' }),
  );
  const texts = ['', '{}', '{"keys":[]}', '{"keys":[{}]}', JSON.stringify(swapped), makeSigningKey()];
  texts.push(rsa.export({ format: 'pem', type: 'spki' }) as string);
  for (const text of texts) expect(() => readPublicKeys(text, 'keys.json')).toThrow(invalid);
});
