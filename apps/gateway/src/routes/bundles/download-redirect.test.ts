import { createHash } from 'node:crypto';
import { objectKey } from '@packhouse/bundle';
import { openObjectStore } from '@packhouse/object-store';
import { type ScriptedS3, startScriptedS3 } from '@packhouse/scripted-s3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

describe('a gateway with DOWNLOADS=redirect', () => {
  let s3: ScriptedS3;
  let at: TestGateway;
  let key: string;
  let keyId: number;
  let file: Buffer;
  let sha256: string;
  const get = (name: string, headers: Record<string, string> = {}, method = 'GET', bearer = key) =>
    ask(at.url, `/ethereum/files/blocks/${name}.json.gz`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...headers },
    });
  /** What a client does next. */
  const follow = ({ headers }: Answer, more: Record<string, string> = {}): Promise<Answer> => {
    const { origin, pathname, search } = new URL(String(headers.location));
    return ask(origin, pathname + search, { headers: more });
  };

  beforeAll(async () => {
    s3 = await startScriptedS3();
    const objectStore = await openObjectStore(`s3://${s3.bucket}/some/prefix`, {
      endpoint: s3.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: s3.accessKeyId, secretAccessKey: 'secret' },
    });
    at = await startTestGateway({ objectStore, downloads: 'redirect' });
    const made = await at.makeKey();
    key = made.key;
    keyId = made.row.id;
    await at.stage(100, 109);
    file = (await at.publish(100, 109)).get('blocks') as Buffer;
    sha256 = createHash('sha256').update(file).digest('hex');
    const name = objectKey({ network: 'ethereum', kind: 'blocks', firstBlock: 100, lastBlock: 109 });
    await objectStore.put(name, file, { sha256, contentType: 'application/gzip', metadata: {} });
    await at.stage(110, 110);
  });
  afterAll(async () => {
    await at.close();
    await s3.close();
  });

  it('leads to the object store, which serves the file and parts of it to anybody who has the address', async () => {
    const answer = await get('100-109');
    expect(answer.status).toBe(302);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'packhouse-sha256': sha256,
      'content-length': '0',
    });
    expect(answer.headers.etag).toBeUndefined();
    const location = new URL(String(answer.headers.location));
    expect(location.origin).toBe(s3.endpoint);
    expect(location.searchParams.get('X-Amz-Expires')).toBe('300');
    expect(location.href).not.toContain(key);
    expect((await follow(answer)).body.equals(file)).toBe(true);
    const part = await follow(await get('100-109', { range: 'bytes=10-19' }), { range: 'bytes=10-19' });
    expect(part.status).toBe(206);
    expect(part.body.equals(file.subarray(10, 20))).toBe(true);
    expect(at.log.join('')).not.toContain('X-Amz-Signature');
  });

  it('leads nobody whose key or plan does not reach so far', async () => {
    const stranger = await get('100-109', {}, 'GET', `ph_abcdefgh_${'A'.repeat(43)}`);
    expect([stranger.status, stranger.headers.location]).toEqual([401, undefined]);
    await at.database.plans.set('short', { maxBlock: 105 }, { make: true });
    const short = await get('100-109', {}, 'GET', (await at.makeKey('short')).key);
    expect([short.status, short.headers.location]).toEqual([403, undefined]);
  });

  it('answers itself what the store cannot: HEAD, preconditions on its ETag, impossible ranges, single blocks', async () => {
    const etag = `"${sha256}"`;
    const head = await get('100-109', {}, 'HEAD');
    expect(head.headers).toMatchObject({ etag, 'content-length': String(file.length) });
    expect((await get('100-109', { 'if-none-match': etag })).status).toBe(304);
    expect((await get('100-109', { range: `bytes=${file.length}-` })).status).toBe(416);
    expect((await get('100-109', { 'if-match': '"other"' })).status).toBe(412);
    const resumed = await get('100-109', { 'if-range': etag, range: 'bytes=10-19' });
    expect([resumed.status, resumed.body.equals(file.subarray(10, 20))]).toEqual([206, true]);
    for (const name of ['104-104', '110-110']) expect((await get(name)).status).toBe(200);
  });

  it('counts the bytes that it led to', async () => {
    const sum = async (): Promise<number> => {
      const sums = await at.database.usage.sums({ keyIds: [keyId], since: 0, until: 99_999, by: 'method' });
      return sums.find(({ name }) => name === 'download')?.bytes ?? 0;
    };
    const before = await vi.waitFor(async () => {
      const bytes = await sum();
      expect(bytes).toBeGreaterThan(0);
      return bytes;
    }, 60_000);
    await get('100-109', { range: 'bytes=0-9' });
    await vi.waitFor(async () => expect(await sum()).toBeGreaterThanOrEqual(before + 10), 60_000);
  });

  it('does not start on a folder, which has no addresses', async () => {
    await expect(startTestGateway({ downloads: 'redirect' })).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining('DOWNLOADS=redirect needs an S3 object store'),
    });
  });
});
