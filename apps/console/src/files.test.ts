import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const BODY = Buffer.from('the bytes of a bundle');
const SHA256 = createHash('sha256').update(BODY).digest('hex');
const HASH = `0x${'0'.repeat(64)}`;
const HUGE = 2 ** 30;
/** Has one object. */
const objectStore = {
  stream: async (key: string) => Readable.from(key === 'logs-100' ? [BODY] : []),
} as Partial<ObjectStore> as ObjectStore;
const at = useConsole({ objectStore });
let viewer: { authorization: string };

beforeAll(async () => {
  viewer = await at.token('viewer');
  const { database } = at;
  await database.networks.register({ id: 'main', chainId: 1 });
  const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
  await database.manifest.registerKey(signer.publicKey);
  for (const [firstBlock, byteLength] of [
    [100, BODY.length],
    [200, HUGE],
  ] as const) {
    const lastBlock = firstBlock + 99;
    await database.network('main').bundles.publish(
      {
        kind: 'logs',
        firstBlock,
        lastBlock,
        objectKey: `logs-${firstBlock}`,
        byteLength,
        rawLength: 9,
        sha256: SHA256,
        firstHash: HASH,
        firstParentHash: HASH,
        lastHash: HASH,
        proofs: [],
        formatVersion: 1,
        fragments: [{ firstBlock: firstBlock, lastBlock: lastBlock, byteLength, rawLength: 9, crc32: 1 }],
      },
      { signer, clients: [] },
    );
  }
});

const ask = (path: string) => at.ask({ method: 'GET', url: `/api/${path}`, headers: viewer });

test('the files of a block, the newest, and one with its entry are told', async () => {
  expect((await ask('files/of-block?network=main&block=150')).json()).toContainEqual({
    kind: 'logs',
    state: 'published',
    file: expect.objectContaining({ from: 100, to: 199, sha256: SHA256 }),
  });
  const newest = (await ask('files/newest?network=main')).json();
  expect(newest.map(({ from }: { from: number }) => from).sort()).toEqual([100, 200]);
  const shown = (await ask('files/show?network=main&kind=logs&from=100')).json();
  expect(shown).not.toHaveProperty('fragments');
  expect(JSON.parse(shown.entry)).toMatchObject({ from: 100, to: 199, sha256: SHA256 });
  expect((await ask('audits?network=main')).json()).toEqual({ network: 'main', last: null, superseded: [] });
});

test('a file is handed to viewers as it is stored', async () => {
  const answer = await ask('files/main/logs/100');
  expect(answer.rawPayload).toEqual(BODY);
  expect(answer.headers).toMatchObject({ 'content-type': 'application/gzip', 'cache-control': 'no-store' });
  const nobody = await at.ask({ method: 'GET', url: '/api/files/main/logs/100' });
  expect(nobody.json()).toMatchObject({ error: { code: 'SIGN_IN_REQUIRED' } });
});

test.each([
  ['files/main/logs/150', 404, 'FILE_UNKNOWN'],
  ['files/none/logs/100', 404, 'FILE_UNKNOWN'],
  ['files/main/uncles/100', 404, 'FILE_UNKNOWN'],
  ['files/main/logs/..%2F100', 404, 'FILE_UNKNOWN'],
  ['files/main/logs/200', 422, 'FILE_TOO_LARGE'],
  ['files/show?network=main&kind=logs&from=150', 404, 'FILE_UNKNOWN'],
])('%s is refused', async (path, status, code) => {
  const answer = await ask(path);
  expect(answer.json()).toMatchObject({ error: { code } });
  expect(answer.statusCode).toBe(status);
});
