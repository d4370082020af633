import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { KINDS, type Kind } from '@packhouse/chain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../testing/ask.js';
import { hashOf, startTestGateway, type TestGateway, toRecord } from '../../testing/test-gateway.js';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('GET {download_url}/<kind>/<start>-<end>.json.gz', () => {
  let at: TestGateway;
  let key: string;
  let files: Map<Kind, Buffer>;
  const get = (name: string, headers: Record<string, string> = {}, kind = 'blocks', method = 'GET') =>
    ask(at.url, `/ethereum/files/${kind}/${name}.json.gz`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  const recordsIn = (body: Buffer): string =>
    (JSON.parse(gunzipSync(body).toString()) as unknown[]).map((each) => JSON.stringify(each)).join(',');

  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(100, 109, { group: 4 });
    files = await at.publish(100, 109);
    await at.stage(110, 112);
    await at.stage(113, 116, { group: 4 });
    await at.publish(110, 110, ['blocks']);
  });
  afterAll(() => at.close());

  it.each(KINDS)('gives the published bundle byte for byte: %s', async (kind) => {
    const answer = await get('100-109', {}, kind);
    const file = files.get(kind) as Buffer;
    expect(answer.status).toBe(200);
    expect(answer.body.equals(file)).toBe(true);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-length': String(file.length),
      etag: `"${sha256(file)}"`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, immutable, max-age=31536000',
    });
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers['transfer-encoding']).toBeUndefined();
  });

  it('gives a new block a file of its own the moment it is staged: alone in its fragment or not', async () => {
    for (const [block, kind] of [
      [111, 'traces'],
      [113, 'blocks'],
      [115, 'logs'],
      [116, 'receipts'],
    ] as const) {
      const answer = await get(`${block}-${block}`, {}, kind);
      expect(answer.status).toBe(200);
      expect(recordsIn(answer.body)).toBe(toRecord(kind, block));
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        etag: `"${sha256(answer.body)}"`,
        'content-length': String(answer.body.length),
      });
    }
  });

  it('gives the file of one block out of the bundle that it was packed into', async () => {
    for (const [block, kind] of [
      [100, 'blocks'],
      [106, 'traces'],
      [109, 'receipts'],
    ] as const) {
      const answer = await get(`${block}-${block}`, {}, kind);
      expect(answer.status).toBe(200);
      expect(recordsIn(answer.body)).toBe(toRecord(kind, block));
      expect(answer.headers['cache-control']).toBe('private, immutable, max-age=31536000');
    }
  });

  it('gives a bundle of one block as it was published', async () => {
    const answer = await get('110-110');
    expect(recordsIn(answer.body)).toBe(toRecord('blocks', 110));
    expect(answer.headers['cache-control']).toContain('immutable');
  });

  it('keeps every link working after its block was packed and its staging reclaimed', async () => {
    const [first, last] = [10_240, 11_263];
    await at.stage(first, last, { group: 64 });
    const links = ['blocks/10240-10240', 'logs/10777-10777', 'traces/11263-11263'];
    const open = async (link: string) => {
      const answer = await ask(at.url, `/ethereum/files/${link}.json.gz`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(answer.status, link).toBe(200);
      return recordsIn(answer.body);
    };
    const before = await Promise.all(links.map(open));
    await at.publish(first, last);
    expect(await at.database.network('ethereum').staging.reclaim()).toContain(first);
    expect(await Promise.all(links.map(open))).toEqual(before);
    expect(recordsIn((await get(`${first}-${last}`)).body).split('},{')).toHaveLength(1_024);
  });

  it('answers HEAD with the headers of GET and nothing else', async () => {
    for (const name of ['100-109', '111-111', '105-105']) {
      const [head, whole] = [await get(name, {}, 'logs', 'HEAD'), await get(name, {}, 'logs')];
      expect(head.status).toBe(200);
      expect(head.body).toHaveLength(0);
      for (const header of ['content-length', 'etag', 'content-type', 'cache-control', 'accept-ranges']) {
        expect(head.headers[header], header).toBe(whole.headers[header]);
      }
    }
  });

  it.each([
    ['bytes=0-9', 0, 9],
    ['bytes=20-', 20, Number.POSITIVE_INFINITY],
    ['bytes=-7', -7, Number.POSITIVE_INFINITY],
    ['bytes=5-99999999', 5, Number.POSITIVE_INFINITY],
  ])('gives a part: %s', async (range, start, end) => {
    for (const name of ['100-109', '111-111', '105-105']) {
      const whole = (await get(name)).body;
      const from = start < 0 ? whole.length + start : start;
      const to = Math.min(end, whole.length - 1);
      const answer = await get(name, { range });
      expect(answer.status).toBe(206);
      expect(answer.headers['content-range']).toBe(`bytes ${from}-${to}/${whole.length}`);
      expect(answer.headers['content-length']).toBe(String(to - from + 1));
      expect(answer.body.equals(whole.subarray(from, to + 1))).toBe(true);
    }
  });

  it('gives all of it where several ranges are asked for or the range is malformed', async () => {
    for (const range of ['bytes=0-1,4-5', 'bytes=9-1', 'lines=1-2']) {
      const answer = await get('100-109', { range });
      expect(answer.status, range).toBe(200);
      expect(answer.body.equals(files.get('blocks') as Buffer)).toBe(true);
    }
  });

  it('answers 416 with the size outside of the file', async () => {
    const size = (files.get('blocks') as Buffer).length;
    const answer = await get('100-109', { range: `bytes=${size}-` });
    expect(answer.status).toBe(416);
    expect(answer.headers['content-range']).toBe(`bytes */${size}`);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.json().reason).toBe('range-unsatisfiable');
  });

  it('resumes by If-Range only where the file is the same', async () => {
    const { etag } = (await get('100-109')).headers;
    expect((await get('100-109', { range: 'bytes=5-', 'if-range': etag as string })).status).toBe(206);
    expect((await get('100-109', { range: 'bytes=5-', 'if-range': '"other"' })).status).toBe(200);
    expect(
      (await get('100-109', { range: 'bytes=5-', 'if-range': 'Wed, 21 Oct 2015 07:28:00 GMT' })).status,
    ).toBe(200);
  });

  it('answers 304 where the client has the file, and 412 where it wants another', async () => {
    const { etag } = (await get('100-109')).headers;
    const same = await get('100-109', { 'if-none-match': `"x", W/${etag}` });
    expect(same.status).toBe(304);
    expect(same.body).toHaveLength(0);
    expect(same.headers.etag).toBe(etag);
    expect((await get('100-109', { 'if-none-match': '"x"' })).status).toBe(200);
    expect((await get('100-109', { 'if-match': '"x"' })).status).toBe(412);
  });

  it.each([
    '100-108',
    '101-109',
    '100-110',
    '0-0',
    '120-120',
    '100-200',
    '9007199254740991-9007199254740991',
  ])('answers 404 for a range that no file has: %s', async (name) => {
    expect((await get(name)).json()).toMatchObject({ status: 404, reason: 'file-unknown' });
  });

  it.each([
    '109-100',
    '0100-109',
    '-1-5',
    '100',
    '100-',
    'a-b',
    '0x1-0x2',
    '9007199254740992-9007199254740993',
    '1e2-109',
  ])('answers 404 for a name that no file can have: %s', async (name) => {
    expect((await get(name)).json()).toMatchObject({ status: 404, reason: 'file-unknown' });
  });

  it('answers 410 for a block that was reorganised away, and the new one once it is there', async () => {
    await at.stage(40_000, 40_001);
    expect((await get('40001-40001')).status).toBe(200);
    await at.database.network('ethereum').staging.abandon(40_001);
    const gone = await get('40001-40001');
    expect(gone.status).toBe(410);
    expect(gone.json()).toMatchObject({
      reason: 'reorganised',
      block: 40_001,
      hash: expect.stringMatching(/^0x/),
    });
    await at.stage(40_001, 40_001, { branch: 'b' });
    expect(recordsIn((await get('40001-40001')).body)).toBe(toRecord('blocks', 40_001, 'b'));
  });

  it.each([
    ['hash=0x12', '41100-41100', 400],
    [`hash=${hashOf(41_100).toUpperCase()}`, '41100-41100', 400],
    [`hash=${hashOf(41_100)}&hash=${hashOf(41_100, 'b')}`, '41100-41100', 400],
    [`hash=${hashOf(100)}`, '100-109', 400],
    [`hash=${hashOf(41_100)}`, '41100-41100', 200],
    [`hash=${hashOf(41_100, 'b')}`, '41100-41100', 410],
    [`hash=${hashOf(104)}`, '104-104', 200],
    [`hash=${hashOf(104, 'b')}`, '104-104', 410],
    [`hash=${hashOf(104)}`, '105-105', 410],
    ['other=1', '41100-41100', 200],
  ])('of ?%s answers for %s with %i', async (query, name, status) => {
    if ((await get('41100-41100')).status === 404) await at.stage(41_100, 41_100);
    const answer = await ask(at.url, `/ethereum/files/blocks/${name}.json.gz?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(status);
  });

  it('never mixes two branches where a reorganisation comes between look-up and read', async () => {
    await at.stage(41_000, 41_001);
    const { staging } = at.database.network('ethereum');
    const { bodies } = staging;
    let branch = 'a';
    staging.bodies = async (...args) => {
      if (branch === 'a') {
        branch = 'b';
        await staging.abandon(41_001);
        await at.stage(41_001, 41_001, { branch });
      }
      return bodies(...args);
    };
    const answer = await get('41001-41001');
    staging.bodies = bodies;
    expect([branch, answer.status]).toEqual(['b', 200]);
    expect(recordsIn(answer.body)).toBe(toRecord('blocks', 41_001, 'b'));
  });

  it('looks once more where the fragment was reclaimed between look-up and read', async () => {
    await at.stage(20_480, 21_503, { group: 512 });
    const { staging } = at.database.network('ethereum');
    const { bodies } = staging;
    let raced = false;
    staging.bodies = async (...args) => {
      if (!raced) {
        raced = true;
        staging.bodies = bodies;
        await at.publish(20_480, 21_503);
        await staging.reclaim();
      }
      return bodies(...args);
    };
    const answer = await get('20500-20500');
    staging.bodies = bodies;
    expect(raced).toBe(true);
    expect(answer.status).toBe(200);
    expect(recordsIn(answer.body)).toBe(toRecord('blocks', 20_500));
  });

  it('never hands out bytes that are not those of the index row', async () => {
    await at.stage(300, 301);
    const published = await at.publish(300, 301, ['logs']);
    const file = Buffer.from(published.get('logs') as Buffer);
    file[30] = (file[30] as number) ^ 1;
    const body = { sha256: sha256(file), contentType: 'application/gzip', metadata: {} };
    await at.objectStore.delete('ethereum/logs/300-301.json.gz');
    await at.objectStore.put('ethereum/logs/300-301.json.gz', file, body);
    const answer = await get('300-301', {}, 'logs');
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({
      reason: 'file-damaged',
      retryAfter: 60,
      requestId: answer.headers['x-request-id'],
    });
    expect(answer.headers['retry-after']).toBe('60');
    expect(answer.headers.etag).toBeUndefined();
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });
});

describe('a file that is too large to be held in memory', () => {
  it('is streamed from the store, whole and in part', async () => {
    const at = await startTestGateway({ fileCacheBytes: 1_000 });
    try {
      const { key } = await at.makeKey();
      await at.stage(0, 9);
      const file = (await at.publish(0, 9, ['blocks'])).get('blocks') as Buffer;
      expect(file.length).toBeGreaterThan(1_000 / 8);
      const headers = { authorization: `Bearer ${key}` };
      const path = '/ethereum/files/blocks/0-9.json.gz';
      const whole = await ask(at.url, path, { headers });
      expect(whole.body.equals(file)).toBe(true);
      expect(whole.headers['content-length']).toBe(String(file.length));
      const part = await ask(at.url, path, { headers: { ...headers, range: 'bytes=3-40' } });
      expect(part.status).toBe(206);
      expect(part.body.equals(file.subarray(3, 41))).toBe(true);
      const one = await ask(at.url, '/ethereum/files/blocks/4-4.json.gz', { headers });
      expect(JSON.parse(gunzipSync(one.body).toString())).toEqual([JSON.parse(toRecord('blocks', 4))]);
    } finally {
      await at.close();
    }
  });
});
