import { createHash } from 'node:crypto';
import { createSigner, entryLine, makeSigningKey, NO_ENTRY, readSigningKey } from '@packhouse/manifest';
import { describe, expect, test } from 'vitest';
import { checkFile, type PublishedFile } from './check-file.js';

const BYTES = new TextEncoder().encode('a file').buffer;
const HASH = `0x${'1'.repeat(64)}`;
const sha256 = createHash('sha256').update('a file').digest('hex');
const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
const key = {
  keyId: signer.keyId,
  publicKey: signer.publicKey.toString('base64'),
  createdAt: '',
  retiredAt: null,
};
const facts = {
  network: 'main',
  kind: 'logs' as const,
  from: 5,
  to: 9,
  version: 1,
  sha256,
  firstHash: HASH,
  lastHash: HASH,
  publishedAt: '2026-01-01T00:00:00.000Z',
};
const line = entryLine(
  signer.seal({
    ...facts,
    chainId: 1,
    sequence: 3,
    bytes: 6,
    rawBytes: 9,
    firstParentHash: HASH,
    proofs: [],
    clients: ['Geth/é'],
    producer: 'packhouse/test',
    supersedes: null,
    previous: NO_ENTRY,
    keyId: signer.keyId,
  }),
);
const file: PublishedFile = {
  ...facts,
  objectKey: 'logs-0',
  byteLength: 6,
  rawLength: 9,
  proofs: [],
  formatVersion: 1,
  entry: line,
};
/** The results by the names of the checks. */
const look = async (...given: Parameters<typeof checkFile>) =>
  Object.fromEntries((await checkFile(...given)).map(({ name, passed }) => [name, passed]));
const good = {
  Size: true,
  'SHA-256': true,
  'Manifest entry': true,
  'Entry hash': true,
  Signature: true,
};

describe('a file', () => {
  test('that was published fits in all', async () => {
    expect(await look(BYTES, file, [key])).toEqual(good);
  });

  test('whose bytes changed fits neither the index nor the entry', async () => {
    const bytes = new TextEncoder().encode('a tile').buffer;
    expect(await look(bytes, file, [key])).toEqual({
      ...good,
      'SHA-256': false,
      'Manifest entry': false,
    });
  });

  test('whose entry was changed, even with its hash, is not signed', async () => {
    const entry = line.replace('"to":9', '"to":8');
    const changed = { ...file, to: 8, entry };
    expect(await look(BYTES, changed, [key])).toEqual({
      ...good,
      'Entry hash': false,
      Signature: false,
    });
    const hash = createHash('sha256')
      .update(entry.replace(/,"hash".*/, '}'))
      .digest('hex');
    const rehashed = { ...changed, entry: entry.replace(/"hash":"\w+"/, `"hash":"${hash}"`) };
    expect(await look(BYTES, rehashed, [key])).toEqual({ ...good, Signature: false });
  });

  test('is not trusted by a key that is unknown or not what its id says', async () => {
    expect(await look(BYTES, file, [])).toEqual({ ...good, Signature: false });
    const other = createSigner(readSigningKey(makeSigningKey(), 'test'), 'x').publicKey.toString('base64');
    expect(await look(BYTES, file, [{ ...key, publicKey: other }])).toEqual({ ...good, Signature: false });
  });

  test('without an entry, or in a browser without SHA-256, is said not to be checked', async () => {
    expect(await look(BYTES, { ...file, entry: null }, [key])).toMatchObject({
      'Manifest entry': null,
    });
  });
});
