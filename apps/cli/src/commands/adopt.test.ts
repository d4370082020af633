import { hash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { logKey } from '@packhouse/bundle';
import { createSigner, entryLine, makeSigningKey, NO_ENTRY, readSigningKey } from '@packhouse/manifest';
import { createDiskStore } from '@packhouse/object-store';
import { beforeAll, expect, test } from 'vitest';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  on.env.OBJECT_STORE = path.join(on.directory, 'objects');
  on.env.SIGNING_KEY_FILE = path.join(on.directory, 'key.pem');
  await mkdir(on.env.OBJECT_STORE);
});

test('adopt says what it cannot find, and takes in what the signed log names', async () => {
  expect(await on.refused(64, 'adopt')).toMatch(/^No network is known here\. .*\[USAGE\]$/);
  expect(await on.refused(64, 'adopt', '--network', 'main')).toMatch(
    /has no entry of a manifest of main that a trusted key signed \(none is given\)\. .*\[ADOPT_EMPTY\]$/,
  );
  const pem = makeSigningKey();
  await writeFile(on.env.SIGNING_KEY_FILE as string, pem, { mode: 0o600 });
  const signer = createSigner(readSigningKey(pem, 'test'), 'packhouse/0.0.0');
  const block = `0x${'11'.repeat(32)}`;
  const entry = signer.seal({
    network: 'main',
    chainId: 1,
    kind: 'logs',
    sequence: 0,
    from: 0,
    to: 9,
    sha256: 'ab'.repeat(32),
    bytes: 9,
    rawBytes: 9,
    firstHash: block,
    firstParentHash: block,
    lastHash: block,
    proofs: [],
    clients: [],
    producer: 'packhouse/0.0.0',
    version: 1,
    supersedes: null,
    publishedAt: '2026-01-01T00:00:00.000Z',
    previous: NO_ENTRY,
    keyId: signer.keyId,
  });
  const store = await createDiskStore({ directory: on.env.OBJECT_STORE as string });
  const bytes = Buffer.from(`${entryLine(entry)}\n`);
  const key = logKey({
    network: 'main',
    kind: 'logs',
    first: 0,
    last: 0,
    before: NO_ENTRY,
    hash: entry.hash,
  });
  const metadata = {};
  await store.put(key, bytes, {
    sha256: hash('sha256', bytes),
    contentType: 'application/x-ndjson',
    metadata,
  });
  await store.close();

  const { out, code } = await on.packhouse('adopt', '--network', 'main');
  expect(out).toContain('The object main/logs/0-9.json.gz is not in ');
  expect(out).toContain('main: 1 signed entry: 0 known, 0 restored, 0 under new entries, 1 missing.');
  expect(code).toBe(2);
  expect(await on.database.network('main').manifest.tip('logs')).toEqual({ sequence: 0, hash: entry.hash });
});
