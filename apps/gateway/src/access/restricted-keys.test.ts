import { parseNetworks } from '@packhouse/networks';
import { toDay } from '@packhouse/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let node: ScriptedNode;
let at: TestGateway;
/** Trusts a proxy on this machine. */
let proxied: TestGateway;

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method }) => ({ result: method }));
  const networks = parseNetworks(
    `networks:
  - {id: ethereum, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}
  - {id: core, family: core, chainId: 1029, upstreams: [{url: '${node.url}'}]}
  - {id: names, family: registry, upstreams: [{url: '${node.url}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  proxied = await startTestGateway({ networks, trustProxy: ['loopback'] });
  await at.stage(100, 104);
  await at.publish(100, 104);
});
afterAll(async () => {
  await at?.close();
  await proxied?.close();
  await node?.close();
});

interface Only {
  origins?: string[];
  addresses?: string[];
  methods?: string[];
}

const makeKey = async (only: Only, gateway = at): Promise<string> =>
  (await gateway.database.keys.create({ application: 'test', network: null, plan: 'free', ...only })).key;

const call = (key: string, method: string, headers: Record<string, string> = {}, gateway = at) =>
  ask(gateway.url, `/ethereum/v1/${key}`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
    headers: { 'content-type': 'application/json', ...headers },
  });
const pointer = (key: string, headers: Record<string, string> = {}) =>
  ask(at.url, `/ethereum/v1/${key}/bundle-api/blocks/100`, { headers });
const file = (key: string, headers: Record<string, string> = {}) =>
  ask(at.url, '/ethereum/files/blocks/100-104.json.gz', {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });

const FORBIDDEN = { code: -32001, data: { reason: 'forbidden' } };

describe('a key for some origins', () => {
  let key: string;
  beforeAll(async () => {
    key = await makeKey({ origins: ['https://app.example.com', '*.example.org'] });
  });

  it('works on their pages, in JSON-RPC and plain HTTP, and tells the browser so', async () => {
    for (const origin of ['https://app.example.com', 'http://a.b.example.org']) {
      for (const answer of [
        await call(key, 'eth_chainId', { origin }),
        await pointer(key, { origin }),
        await file(key, { origin }),
      ]) {
        expect(answer.status).toBe(200);
        expect(answer.headers).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-expose-headers': '*',
          vary: 'Origin',
        });
      }
    }
  });

  it.each(['https://evil.example', 'http://app.example.com', 'null', undefined])(
    'is refused on pages of %s, in one sentence that names no other, and not counted',
    async (origin) => {
      const headers: Record<string, string> = origin === undefined ? {} : { origin };
      const rpc = await call(key, 'eth_chainId', headers);
      expect([rpc.status, rpc.json()]).toMatchObject([403, { id: null, error: FORBIDDEN }]);
      for (const plain of [await pointer(key, headers), await file(key, headers)]) {
        expect([plain.status, plain.json()]).toMatchObject([403, { reason: 'forbidden', code: -32001 }]);
        expect(plain.headers['content-type']).toContain('application/problem+json');
      }
      for (const answer of [rpc, await pointer(key, headers)]) {
        expect(answer.text).not.toMatch(/example\.(com|org)/);
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
        expect(answer.headers).toMatchObject({ 'ratelimit-limit': '25', 'ratelimit-cost': '0' });
      }
    },
  );

  const preflight = (path: string, origin: string, method: string) =>
    ask(at.url, path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type',
      },
    });

  it('is asked about in advance by browsers', async () => {
    const yes = await preflight(`/ethereum/v1/${key}`, 'https://app.example.com', 'POST');
    expect([yes.status, yes.text]).toEqual([204, '']);
    expect(yes.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    expect(yes.headers['access-control-allow-headers']).toContain('content-type');
    const encoded = key.replace('ph_', 'ph%5F');
    for (const path of [`/ethereum/v1/${key}`, `/ethereum/v1/${encoded}/bundle-api/blocks/100`]) {
      const no = await preflight(path, 'https://evil.example', 'POST');
      expect([no.status, no.text]).toEqual([403, '']);
      expect(no.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('and without origins of its own a key works on all pages; who has none may read why', async () => {
    const open = await makeKey({});
    const origin = 'https://anywhere.example';
    const unknown = `ph_abcdefgh_${'A'.repeat(43)}`;
    for (const answer of [
      await call(open, 'eth_chainId', { origin }),
      await pointer(open, { origin }),
      await call(unknown, 'eth_chainId', { origin }),
      await call(open, 'eth_nothing', { origin }),
      await preflight(`/ethereum/v1/${open}`, origin, 'POST'),
      await preflight(`/ethereum/v1/${unknown}/bundle-api/blocks/1`, origin, 'GET'),
      await preflight('/ethereum/files/blocks/100-104.json.gz', origin, 'GET'),
      await preflight('/names/v1/', origin, 'POST'),
    ]) {
      expect(answer.headers['access-control-allow-origin']).toBe('*');
    }
    expect((await preflight('/nowhere/at/all', origin, 'GET')).status).toBe(404);
    for (const path of ['/metrics', '/readyz', '/healthz']) {
      const { headers } = await ask(at.url, path, { headers: { origin } });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect((await preflight(path, origin, 'GET')).status).toBe(405);
    }
    const noPreflight = await ask(at.url, `/ethereum/v1/${open}/bundle-api/blocks/1`, { method: 'OPTIONS' });
    expect([noPreflight.status, noPreflight.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect((await call(open, 'eth_chainId')).headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('a key for some addresses', () => {
  it('works from them and is refused from others', async () => {
    const mine = await makeKey({ addresses: ['127.0.0.0/8', '::1'] });
    const other = await makeKey({ addresses: ['203.0.113.0/24', '2001:db8::/32'] });
    expect([(await call(mine, 'eth_chainId')).status, (await file(mine)).status]).toEqual([200, 200]);
    const rpc = await call(other, 'eth_chainId');
    expect([rpc.status, rpc.json().error]).toMatchObject([403, FORBIDDEN]);
    expect(rpc.text).not.toMatch(/203\.0|2001:/);
    expect((await pointer(other)).json()).toMatchObject({ status: 403, reason: 'forbidden' });
  });

  it('believes X-Forwarded-For from the proxies that TRUST_PROXY names, and from nobody else', async () => {
    const only = { addresses: ['203.0.113.0/24', '2001:db8::/32'] };
    const [direct, behind] = [await makeKey(only), await makeKey(only, proxied)];
    for (const client of ['203.0.113.7', '2001:db8::7']) {
      const headers = { 'x-forwarded-for': client };
      expect((await call(direct, 'eth_chainId', headers)).status).toBe(403);
      expect((await call(behind, 'eth_chainId', headers, proxied)).status).toBe(200);
    }
    // A header written by the client comes before the address that the proxy saw.
    const forged = { 'x-forwarded-for': '203.0.113.7, 198.51.100.1' };
    expect((await call(behind, 'eth_chainId', forged, proxied)).status).toBe(403);
    expect((await call(behind, 'eth_chainId', {}, proxied)).status).toBe(403);
  });
});

describe('a key for some methods', () => {
  it('is refused for others: 403 alone, an error of its item in a batch', async () => {
    const key = await makeKey({ methods: ['eth_chainId', 'core_getLogs'] });
    expect((await call(key, 'eth_chainId')).status).toBe(200);
    const alone = await call(key, 'eth_blockNumber');
    expect([alone.status, alone.json()]).toMatchObject([403, { id: 1, error: FORBIDDEN }]);
    expect(alone.text).not.toContain('eth_chainId');
    const batch = await ask(at.url, `/ethereum/v1/${key}`, {
      method: 'POST',
      body: '[{"id":1,"method":"eth_chainId"},{"id":2,"method":"eth_blockNumber"}]',
      headers: { 'content-type': 'application/json' },
    });
    expect([batch.status, batch.json()]).toMatchObject([200, [{ id: 1 }, { id: 2, error: FORBIDDEN }]]);
    const core = await ask(at.url, `/core/v1/${key}`, {
      method: 'POST',
      body: '{"id":1,"method":"cfx_getLogs","params":[{}]}',
      headers: { 'content-type': 'application/json' },
    });
    expect(core.json().error).toBeUndefined();
  });

  it('opens bundles and files only where it names them', async () => {
    const [rpc, bundles, files] = await Promise.all(
      ['eth_chainId', 'bundle-api', 'download'].map((method) => makeKey({ methods: [method] })),
    );
    const statuses = async (key = '') => [
      (await call(key, 'eth_chainId')).status,
      (await pointer(key)).status,
      (await file(key)).status,
      (await ask(at.url, `/ethereum/v1/${key}/bundle-api/coverage`)).status,
      (await ask(at.url, `/ethereum/v1/${key}/bundle-api/manifest?kind=blocks`)).status,
    ];
    expect(await statuses(rpc)).toEqual([200, 403, 403, 403, 403]);
    expect(await statuses(bundles)).toEqual([403, 200, 403, 200, 200]);
    expect(await statuses(files)).toEqual([403, 403, 200, 403, 403]);
  });
});

describe('revocation', () => {
  it('ends a key within a second on every gateway, in JSON-RPC too', async () => {
    const networks = parseNetworks(
      `networks:\n  - {id: ethereum, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`,
      { source: 'test', env: {} },
    );
    const { createGateway } = await import('../create-gateway.js');
    const { context, database, objectStore } = at;
    const second = await createGateway({ context, database, objectStore, networks });
    const url = `http://127.0.0.1:${await second.listen(0, '127.0.0.1')}`;
    try {
      const { key, row } = await at.makeKey();
      const both = async () => [
        (await call(key, 'eth_chainId')).status,
        (await call(key, 'eth_chainId', {}, { ...at, url })).status,
      ];
      expect(await both()).toEqual([200, 200]);
      await database.keys.revoke(row.prefix);
      at.time.offset += 1_000;
      expect(await both()).toEqual([403, 403]);
    } finally {
      await second.close();
    }
  });
});

describe('what is left of a plan', () => {
  beforeEach(() => {
    at.time.offset += 2_000;
  });
  const post = (key: string, body: string, type = 'application/json') =>
    ask(at.url, `/ethereum/v1/${key}`, { method: 'POST', body, headers: { 'content-type': type } });

  it('stands on every answer to a key: results, refusals, batches, notifications, what cannot be read', async () => {
    const { key } = await at.makeKey('free');
    at.time.frozenAt = Date.now();
    try {
      const answers = [
        await post(key, '{"id":1,"method":"eth_chainId"}'),
        await post(key, '{"method":"eth_chainId"}'),
        await post(key, '{"id":1,"method":"eth_nothing"}'),
        await post(key, '[{"id":1,"method":"eth_chainId"},{"id":2,"method":"eth_chainId"}]'),
        await post(key, '{'),
        await post(key, '[]'),
        await post(key, '{}', 'text/plain'),
        await post(key, 'x'.repeat(5_300_000)),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 204, 200, 200, 400, 400, 415, 413]);
      expect(answers.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(
        [24, 23, 22, 20, 19, 18, 17, 16].map(String),
      );
      for (const { headers } of answers) expect(headers['ratelimit-limit']).toBe('25');
      // A batch that costs more than the rest is refused whole.
      const calls = Array.from({ length: 17 }, (_, id) => ({ id, method: 'eth_chainId' }));
      const tooMany = await post(key, JSON.stringify(calls));
      expect([tooMany.status, tooMany.json()]).toMatchObject([
        429,
        { id: null, error: { code: -32005, data: { reason: 'rate-limited', retryAfterMs: 1_000 } } },
      ]);
      expect(tooMany.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-remaining': '0' });
      expect((await post(key, '{')).status).toBe(429);
    } finally {
      at.time.frozenAt = null;
    }
  });

  it('of the day is shared with a gateway that begins, without Redis', async () => {
    const { key, row } = await at.makeKey('free');
    const day = toDay(at.context.clock.now());
    const used = {
      network: 'ethereum',
      method: 'eth_call',
      requests: 1,
      units: 100_000,
      errors: 0,
      bytes: 0,
    };
    await at.database.usage.add([{ keyId: row.id, day, ...used }]);
    await vi.waitFor(
      async () => {
        const answer = await post(key, '{"id":1,"method":"eth_chainId"}');
        expect([answer.status, answer.json()]).toMatchObject([
          429,
          { error: { data: { reason: 'quota-exhausted' } } },
        ]);
      },
      { timeout: 60_000, interval: 200 },
    );
  });
});
