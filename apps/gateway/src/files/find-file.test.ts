import { createHash } from 'node:crypto';
import { objectKey } from '@packhouse/bundle';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let at: TestGateway;
let key: string;
beforeAll(async () => {
  at = await startTestGateway();
  ({ key } = await at.makeKey());
});
afterAll(() => at.close());

it('gives the newest version of a bundle under the same link, with its own ETag, in every form it is asked for', async () => {
  await at.stage(100, 109, { group: 5 });
  await at.publish(100, 109, ['logs']);
  const get = (name: string) =>
    ask(at.url, `/ethereum/files/logs/${name}.json.gz`, { headers: { authorization: `Bearer ${key}` } });
  const before = await get('100-109');
  const old = await at.database.network('ethereum').bundles.covering('logs', 100);
  if (old === null) throw new Error('not published');

  const file = Buffer.concat([before.body]);
  file[4] = 1; // the time in the gzip header: another file with the same records
  const sha256 = createHash('sha256').update(file).digest('hex');
  const objectName = objectKey({
    network: 'ethereum',
    kind: 'logs',
    firstBlock: 100,
    lastBlock: 109,
    version: 2,
  });
  await at.objectStore.put(objectName, file, { sha256, contentType: 'application/gzip', metadata: {} });
  const { version: _version, publishedAt: _publishedAt, ...bundle } = old;
  await at.database
    .network('ethereum')
    .bundles.supersede(
      { ...bundle, objectKey: objectName, sha256 },
      { replaces: old.sha256, reason: 'test' },
    );
  await vi.waitFor(async () => expect((await get('100-109')).headers.etag).toBe(`"${sha256}"`), {
    timeout: 60_000,
  });
  expect((await get('100-109')).body.equals(file)).toBe(true);
  expect((await get('103-103')).status).toBe(200);
  const pointer = await ask(at.url, `/ethereum/v1/${key}/bundle-api/logs/103`);
  expect(pointer.json()).toMatchObject({ range: '100-109' });
  // The old object is kept.
  expect((await at.objectStore.read(old.objectKey)).equals(before.body)).toBe(true);
});
