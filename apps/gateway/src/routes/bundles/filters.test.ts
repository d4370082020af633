import { createHash } from 'node:crypto';
import { filterKey, objectKey } from '@packhouse/bundle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('GET {base_url}<KEY>/bundle-api/filters', () => {
  let at: TestGateway;
  let key: string;
  let files: Map<number, Buffer>;
  const get = (query: string, headers: Record<string, string> = {}, method = 'GET', apiKey = key) =>
    ask(at.url, `/ethereum/v1/${apiKey}/bundle-api/filters${query}`, { headers, method });
  const keyOf = (firstBlock: number): string =>
    filterKey(objectKey({ network: 'ethereum', kind: 'logs', firstBlock, lastBlock: firstBlock + 1 }));
  /** Writes a filter; the row says that it is `said`. */
  const write = async (firstBlock: number, bytes: Buffer, said = bytes): Promise<void> => {
    const options = { contentType: 'application/octet-stream', metadata: {} };
    await at.objectStore.put(keyOf(firstBlock), bytes, { sha256: sha256(bytes), ...options });
    await at.database
      .network('ethereum')
      .bundleFilters.put(
        { kind: 'logs', firstBlock, version: 1, sha256: sha256(files.get(firstBlock) as Buffer) },
        { bytes: said.length, sha256: sha256(said) },
      );
  };
  const toFrames = (body: Buffer): { start: number; end: number; sha256: string; filter: string }[] => {
    const frames = [];
    for (let offset = 0; offset < body.length; ) {
      const length = body.readUInt32BE(offset + 48);
      frames.push({
        start: Number(body.readBigUInt64BE(offset)),
        end: Number(body.readBigUInt64BE(offset + 8)),
        sha256: body.toString('hex', offset + 16, offset + 48),
        filter: body.toString('latin1', offset + 52, offset + 52 + length),
      });
      offset += 52 + length;
    }
    return frames;
  };
  const starts = (body: Buffer): string[] => toFrames(body).map(({ start, filter }) => `${start}:${filter}`);

  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(2_000, 2_019);
    files = new Map();
    for (const start of [2_000, 2_002, 2_006, 2_008]) {
      files.set(start, (await at.publish(start, start + 1, ['logs'])).get('logs') as Buffer);
    }
    await write(2_000, Buffer.from('one'));
    await write(2_002, Buffer.from('two'));
    await write(2_008, Buffer.from('four'));
  });
  afterAll(() => at.close());

  it('hands out the filter of each file of a range with the hash of the file', async () => {
    const answer = await get('?kind=logs');
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.headers['content-type']).toBe('application/octet-stream');
    expect(answer.headers['packhouse-filters-next']).toBeUndefined();
    expect(toFrames(answer.body)).toEqual(
      [
        [2_000, 'one'],
        [2_002, 'two'],
        [2_006, ''],
        [2_008, 'four'],
      ].map(([start, filter]) => ({
        start,
        end: (start as number) + 1,
        filter,
        sha256: sha256(files.get(start as number) as Buffer),
      })),
    );
    expect(starts((await get('?kind=logs&from=2003&to=2007')).body)).toEqual(['2002:two', '2006:']);
    expect((await get('?kind=traces')).body.length).toBe(0);
  });

  it('comes in pages; a page that is full and has all its filters never changes', async () => {
    const first = await get('?kind=logs&limit=2');
    expect(first.headers).toMatchObject({
      'packhouse-filters-next': '2006',
      'cache-control': 'private, immutable, max-age=31536000',
    });
    const tag = first.headers.etag as string;
    expect((await get('?kind=logs&limit=2', { 'if-none-match': tag })).status).toBe(304);
    const head = await get('?kind=logs&limit=2', {}, 'HEAD');
    expect({ status: head.status, text: head.text, tag: head.headers.etag }).toEqual({
      status: 200,
      text: '',
      tag,
    });
    const second = await get('?kind=logs&limit=2&cursor=2006');
    expect(starts(second.body)).toEqual(['2006:', '2008:four']);
    expect(second.headers['cache-control']).toBe('private, no-cache');
    expect((await get('?kind=logs&limit=1&cursor=2006')).headers['cache-control']).toBe('private, no-cache');
  });

  it('hands out a filter that was made later, under another tag', async () => {
    const before = await get('?kind=logs&from=2006&to=2007');
    await write(2_006, Buffer.from('three'));
    const after = await get('?kind=logs&from=2006&to=2007', {
      'if-none-match': before.headers.etag as string,
    });
    expect(starts(after.body)).toEqual(['2006:three']);
  });

  it('hands out none in the place of one that is missing or damaged, and lets nobody keep that', async () => {
    await write(2_008, Buffer.from('five'), Buffer.from('four'));
    await at.objectStore.delete(keyOf(2_000));
    const answer = await get('?kind=logs');
    expect(starts(answer.body)).toEqual(['2000:', '2002:two', '2006:three', '2008:']);
    expect(answer.headers.etag).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(at.log.join('')).toContain('filter missing or damaged');
  });

  it('ends where the plan ends, and refuses who may not ask', async () => {
    await at.database.plans.set('small', { maxBlock: 2_006 }, { make: true });
    const small = (await at.makeKey('small')).key;
    const answer = await get('?kind=logs&limit=2', {}, 'GET', small);
    expect(toFrames(answer.body).map(({ start }) => start)).toEqual([2_000, 2_002]);
    expect(answer.headers['packhouse-filters-next']).toBeUndefined();
    expect((await get('?kind=logs', {}, 'GET', 'ph_none')).status).toBe(401);
    expect((await get('')).json()).toMatchObject({ reason: 'query-invalid' });
    expect((await get('?kind=logs&limit=1001')).json()).toMatchObject({ reason: 'query-invalid' });
    const { key: forBundles } = await at.database.keys.create({
      application: 'test',
      network: null,
      plan: 'unlimited',
      methods: ['bundle-api'],
    });
    expect((await get('?kind=logs', {}, 'GET', forBundles)).status).toBe(200);
  });
});
