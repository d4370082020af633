import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { createToldAddress } from './told-address.js';

/* Where a key may be sent: SPEC.md, invariant 8. */

describe('the address of a gateway', () => {
  it.each([
    [
      '0.0.0.0',
      8_080,
      ['localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'LocalHost:8080'],
      ['127.0.0.1', 'localhost'],
    ],
    ['127.0.0.1', 80, ['localhost', '127.0.0.1:80'], ['localhost:8080', '10.0.0.5']],
    ['10.0.0.5', 8_080, ['10.0.0.5:8080'], ['localhost:8080', '10.0.0.5', '10.0.0.6:8080']],
  ])('on %s is for clients that use it, by the same port', (host, port, good, bad) => {
    const told = createToldAddress(undefined);
    told.listens(host, port);
    for (const each of good) expect([each, told.refuse(each)]).toEqual([each, undefined]);
    for (const each of [...bad, 'data.example.com', '', undefined, `localhost:${port}.evil.com`])
      expect([each, told.refuse(each)?.reason]).toEqual([each, 'host-unknown']);
  });

  it('is PUBLIC_URL for every client, whatever proxies make of the Host', () => {
    const told = createToldAddress('https://data.example.com');
    told.listens('0.0.0.0', 8_080);
    expect([told.origin, told.refuse('gateway:8080')]).toEqual(['https://data.example.com', undefined]);
  });
});

describe('a gateway without PUBLIC_URL', () => {
  let at: TestGateway;
  let key: string;
  let paths: string[];
  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(0, 19);
    await at.publish(0, 9);
    const { paths: documented } = (await ask(at.url, '/openapi.json')).json() as { paths: object };
    const api = `/ethereum/v1/${key}`;
    paths = [
      // Every GET that the document has, of this network.
      ...Object.keys(documented)
        .filter((path) => !path.includes('{kind}/{start'))
        .map((path) => (path.startsWith('/{key}') ? `${api}${path.slice('/{key}'.length)}` : path))
        .map((path) => path.replace('{kind}', 'logs').replace('{block_number}', '12')),
      `${api}/bundle-api/logs/3`,
      `${api}/bundle-api/files?kind=logs`,
      `${api}/bundle-api/feed?kinds=logs&from=0&wait=0`,
      '/ethereum/files/logs/0-9.json.gz',
      '/iceberg/v1/config',
      '/iceberg/v1/namespaces',
      '/iceberg/v1/namespaces/ethereum/tables/logs',
    ];
  });
  afterAll(() => at.close());

  const get = (path: string, host: string): Promise<Answer> =>
    ask(at.url, path, { headers: { host, authorization: `Bearer ${key}` } });

  it('tells its own address to no client that came by another name, on any route', async () => {
    const refused: string[] = [];
    for (const path of paths) {
      const { status, text } = await get(path, 'data.example.com');
      const { port } = new URL(at.url);
      if (status === 421) refused.push(path.replace(key, 'KEY'));
      else expect([path, text.includes(`127.0.0.1:${port}`)]).toEqual([path, false]);
      // By its own name each is answered.
      expect((await get(path, `localhost:${port}`)).status, path).not.toBe(421);
    }
    expect(refused).toEqual([
      '/openapi.json',
      '/',
      '/ethereum/v1/KEY/bundle-api/logs/12',
      '/ethereum/v1/KEY/bundle-api/files',
      '/ethereum/v1/KEY/bundle-api/feed',
      '/ethereum/v1/KEY/bundle-api/logs/3',
      '/ethereum/v1/KEY/bundle-api/files?kind=logs',
      '/ethereum/v1/KEY/bundle-api/feed?kinds=logs&from=0&wait=0',
      '/iceberg/v1/namespaces/ethereum/tables/logs',
    ]);
  });

  it('says to set PUBLIC_URL, in the form of each interface', async () => {
    const { host } = new URL(at.url);
    const detail = expect.stringMatching(
      /the address that this answer would name, http:\S+, .* set PUBLIC_URL/,
    );
    const pointer = await get(`/ethereum/v1/${key}/bundle-api/logs/3`, 'data.example.com');
    expect(pointer.json()).toMatchObject({ status: 421, reason: 'host-unknown', detail });
    const table = await get(
      '/iceberg/v1/namespaces/ethereum/tables/logs',
      host.replace('127.0.0.1', '10.1.1.1'),
    );
    expect(table.json()).toEqual({ error: { message: detail, type: 'BadRequestException', code: 421 } });
    expect(table.text).not.toContain(key);
    const refresh = await ask(at.url, `/ethereum/v1/${key}/nft-api/refresh`, {
      method: 'PUT',
      headers: { host: 'data.example.com', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refresh.status).toBe(421);
  });

  it('is no concern of networks that have addresses of their own', async () => {
    const own = parseNetworks(
      `networks: [{id: own, family: evm, chainId: 1, baseUrl: 'https://a.example.com/v1/', downloadUrl: 'https://b.example.com', upstreams: [{url: 'http://127.0.0.1:1'}]}]`,
      { source: 'test', env: {} },
    );
    const other = await startTestGateway({ networks: own });
    expect((await ask(other.url, '/', { headers: { host: 'a.example.com' } })).status).toBe(200);
    await other.close();
  });
});
