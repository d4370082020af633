import { createHash } from 'node:crypto';
import { createDatabase, type Database, type NetworkDatabase } from '@packhouse/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

interface Page {
  files: { from: number; to: number; bytes: number; sha256: string; version: number; link: string }[];
  next: string | null;
  limited?: { maxBlock: number };
}

describe('GET {base_url}<KEY>/bundle-api/files', () => {
  let at: TestGateway;
  let key: string;
  const list = (query: string, headers: Record<string, string> = {}, method = 'GET', apiKey = key) =>
    ask(at.url, `/ethereum/v1/${apiKey}/bundle-api/files${query}`, { headers, method });
  const page = async (query: string, apiKey = key): Promise<Page> => {
    const answer = await list(query, {}, 'GET', apiKey);
    expect(answer.status).toBe(200);
    return answer.json() as unknown as Page;
  };
  const ranges = ({ files }: Page): string[] => files.map(({ from, to }) => `${from}-${to}`);

  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(2_000, 2_019);
    for (const start of [2_000, 2_002, 2_006, 2_008]) await at.publish(start, start + 1, ['logs', 'blocks']);
  });
  afterAll(() => at.close());

  it('names each published file with what is downloaded from its link', async () => {
    const { files, next, limited } = await page('?kind=logs');
    expect({ next, limited }).toEqual({ next: null, limited: undefined });
    expect(files.map(({ from }) => from)).toEqual([2_000, 2_002, 2_006, 2_008]);
    for (const { from, to, bytes, sha256, version, link } of files) {
      expect(link).toBe(`${at.url}/ethereum/files/logs/${from}-${to}.json.gz`);
      const { body, status } = await ask(at.url, new URL(link).pathname, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect({ status, version, bytes: body.length }).toEqual({ status: 200, version: 1, bytes });
      expect(createHash('sha256').update(body).digest('hex')).toBe(sha256);
    }
  });

  it('lists what touches the range, and nothing staged', async () => {
    expect(ranges(await page('?kind=logs&from=2003&to=2006'))).toEqual(['2002-2003', '2006-2007']);
    expect(ranges(await page('?kind=logs&from=2004&to=2005'))).toEqual([]);
    expect(ranges(await page('?kind=logs&from=2009'))).toEqual(['2008-2009']);
    expect(ranges(await page('?kind=logs&to=2001'))).toEqual(['2000-2001']);
    expect(ranges(await page('?kind=logs&from=2010&to=2019'))).toEqual([]);
    expect(ranges(await page('?kind=traces'))).toEqual([]);
  });

  it('comes in pages that make the whole, whatever is on a page', async () => {
    const whole = ranges(await page('?kind=logs&from=2001'));
    for (const limit of [1, 2, 3, 4, 5]) {
      const seen: string[] = [];
      let cursor = '';
      for (let pages = 0; pages < 5; pages += 1) {
        const one = await page(`?kind=logs&from=2001&limit=${limit}${cursor}`);
        seen.push(...ranges(one));
        if (one.next === null) break;
        expect(one.files).toHaveLength(limit);
        cursor = `&cursor=${one.next}`;
      }
      expect(seen).toEqual(whole);
    }
  });

  it('has nothing new for a client with the page, until a file of that page is new', async () => {
    const first = await list('?kind=logs&limit=2');
    expect(first.headers['cache-control']).toBe('private, no-cache');
    const tag = first.headers.etag as string;
    const again = await list('?kind=logs&limit=2', { 'if-none-match': `"other", ${tag}` });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect(again.headers.etag).toBe(tag);
    const all = (await list('?kind=logs')).headers.etag as string;
    expect(all).not.toBe(tag);
    await at.publish(2_010, 2_011, ['logs']);
    expect((await list('?kind=logs&limit=2', { 'if-none-match': tag })).status).toBe(304);
    expect((await list('?kind=logs', { 'if-none-match': all })).status).toBe(200);
    const head = await list('?kind=logs&limit=2', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.etag).toBe(tag);
  });

  it('gives a repaired file with its new version and bytes', async () => {
    const { bundles } = at.database.network('ethereum');
    const row = await bundles.covering('blocks', 2_002);
    if (row === null) throw new Error('not published');
    const { network: _network, version: _version, publishedAt: _at, ...bundle } = row;
    const before = await list('?kind=blocks&from=2002&to=2003');
    await bundles.supersede(
      {
        ...bundle,
        objectKey: bundle.objectKey.replace('.json.gz', '.v2.json.gz'),
        sha256: 'cd'.repeat(32),
        byteLength: 17,
      },
      { replaces: row.sha256, reason: 'test' },
    );
    const after = await list('?kind=blocks&from=2002&to=2003', {
      'if-none-match': before.headers.etag as string,
    });
    expect((after.json() as unknown as Page).files).toMatchObject([
      { from: 2_002, to: 2_003, version: 2, sha256: 'cd'.repeat(32), bytes: 17 },
    ]);
  });

  it('ends where the plan ends, says so, and lists no file that the plan refuses', async () => {
    await at.database.plans.set('small', { maxBlock: 2_006 }, { make: true });
    const small = (await at.makeKey('small')).key;
    const limited = { maxBlock: 2_006 };
    const whole = await page('?kind=logs', small);
    expect(whole).toMatchObject({ next: null, limited });
    expect(ranges(whole)).toEqual(['2000-2001', '2002-2003']);
    expect(await page('?kind=logs&limit=2', small)).toMatchObject({ next: null, limited });
    expect(await page('?kind=logs&from=2007', small)).toEqual({ files: [], next: null, limited });
    expect((await page('?kind=logs&to=2006', small)).limited).toBeUndefined();
    const beyond = await ask(at.url, '/ethereum/files/logs/2006-2007.json.gz', {
      headers: { authorization: `Bearer ${small}` },
    });
    expect(beyond.json()).toMatchObject({ reason: 'plan-limit' });
  });

  it.each([
    ['', 'query-invalid', '"kind" is required'],
    ['?kind=uncles', 'kind-unknown', 'expected one of blocks'],
    ['?kind=', 'kind-unknown', 'expected one of blocks'],
    ['?kind=logs&kind=blocks', 'query-invalid', '"kind" is repeated'],
    ['?kind=logs&from=-1', 'block-number-invalid', 'decimal integer'],
    ['?kind=logs&from=0x10', 'block-number-invalid', 'decimal integer'],
    ['?kind=logs&to=', 'block-number-invalid', 'decimal integer'],
    ['?kind=logs&to=9007199254740992', 'block-number-invalid', 'decimal integer'],
    ['?kind=logs&from=5&to=4', 'query-invalid', 'The range is reversed'],
    ['?kind=logs&limit=0', 'query-invalid', 'from 1 to 10000'],
    ['?kind=logs&limit=10001', 'query-invalid', 'from 1 to 10000'],
    ['?kind=logs&limit=1e3', 'query-invalid', 'from 1 to 10000'],
    ['?kind=logs&cursor=x', 'query-invalid', '"next" of a page'],
    ['?kind=logs&cursor=', 'query-invalid', '"next" of a page'],
    ['?kind=logs&from=10&cursor=9', 'query-invalid', '"next" of a page'],
    ['?kind=logs&to=10&cursor=11', 'query-invalid', '"next" of a page'],
    ['?kind=logs&form=1', 'query-invalid', 'Unknown query parameter; expected one of kind, from'],
  ])('refuses %s with %s', async (query, reason, words) => {
    const answer = await list(query);
    expect(answer.json()).toMatchObject({ reason, detail: expect.stringContaining(words) });
    expect(answer.status).toBe(reason === 'kind-unknown' ? 404 : 400);
  });

  it('refuses who may not ask, networks without such files, and other verbs', async () => {
    expect((await list('?kind=logs', {}, 'GET', 'ph_none')).status).toBe(401);
    expect((await list('?kind=logs', {}, 'POST')).status).toBe(405);
    const other = (path: string) => ask(at.url, `/${path}/bundle-api/files?kind=blocks`);
    expect((await other(`quiet/v1/${key}`)).json()).toMatchObject({ reason: 'network-without-bundles' });
    expect((await other(`logsonly/v1/${key}`)).json()).toMatchObject({ reason: 'kind-not-enabled' });
    const { key: forRpc } = await at.database.keys.create({
      application: 'test',
      network: null,
      plan: 'unlimited',
      methods: ['eth_getLogs'],
    });
    expect((await list('?kind=logs', {}, 'GET', forRpc)).json()).toMatchObject({ reason: 'forbidden' });
    const { key: forBundles } = await at.database.keys.create({
      application: 'test',
      network: null,
      plan: 'unlimited',
      methods: ['bundle-api'],
    });
    expect((await list('?kind=logs', {}, 'GET', forBundles)).status).toBe(200);
    const head = await ask(at.url, `/ethereum/v1/${forBundles}/bundle-api/manifest/head`);
    expect(head.status).toBe(200);
  });

  it('refuses a fifth list of a key until one of its four is answered', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let behind: Database | undefined;
    const other = await startTestGateway({}, async (connectionString, context) => {
      const database = createDatabase({ connectionString, context, applicationName: 'held' });
      behind = database;
      const network = (id: string): NetworkDatabase => {
        const one = database.network(id);
        const files: typeof one.bundles.files = (...asked) => held.then(() => one.bundles.files(...asked));
        return { ...one, bundles: { ...one.bundles, files } };
      };
      return { ...database, network };
    });
    try {
      const { key: own } = await other.makeKey();
      const { key: another } = await other.makeKey();
      const asked = (apiKey: string) => ask(other.url, `/ethereum/v1/${apiKey}/bundle-api/files?kind=logs`);
      const answers = Array.from({ length: 5 }, () => asked(own));
      const first = await Promise.race(answers);
      expect(first.json()).toMatchObject({ status: 429, reason: 'rate-limited', window: 'in-flight' });
      expect(first.headers['retry-after']).toBe('1');
      const neighbour = asked(another);
      release();
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 200, 200, 200, 429]);
      expect((await neighbour).status).toBe(200);
      expect((await asked(own)).status).toBe(200);
    } finally {
      release();
      await other.close();
      await behind?.close();
    }
  });
});
