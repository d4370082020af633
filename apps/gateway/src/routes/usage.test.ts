import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGateway } from '../create-gateway.js';
import { type Answer, ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const WITHIN = { timeout: 60_000, interval: 100 };
const call = (method: string, params: unknown[] = []) => JSON.stringify({ id: 1, method, params });

interface Usage {
  rows: { name: string; requests: number; units: number; errors: number; bytes: number }[];
  left: Record<
    'day' | 'month',
    { used: number; limit: number | null; left: number | null; resetsAt: string }
  >;
  total: object;
}

let at: TestGateway;
beforeAll(async () => {
  at = await startTestGateway();
  // No day ends meanwhile.
  at.time.offset = new Date().setUTCHours(12, 0, 0, 0) - Date.now();
});
afterAll(() => at.close());

const post = (key: string, body: string, url = at.url): Promise<Answer> =>
  ask(url, `/ethereum/v1/${key}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
const get = (key: string, query = '', network = 'ethereum'): Promise<Answer> =>
  ask(at.url, `/${network}/v1/${key}/usage${query}`);
const usage = async (key: string, query = ''): Promise<Usage> =>
  (await get(key, query)).json() as unknown as Usage;
/** Waits until these sums are written; the database is asked, because a key may ask 25 times a second. */
const written = (keyId: number, sums: { units: number; errors: number }): Promise<void> =>
  vi.waitFor(async () => {
    const rows = await at.database.usage.sums({ keyIds: [keyId], since: 0, until: 99_999, by: 'key' });
    expect(rows).toMatchObject([sums]);
  }, WITHIN);

describe('GET {base_url}<KEY>/usage', () => {
  it('tells what the key used by day, method and network, and what is left of its plan', async () => {
    const { key, row } = await at.makeKey('free');
    const { key: other } = await at.makeKey('free');
    await at.stage(100, 109);
    const single = await post(key, call('web3_clientVersion'));
    await post(key, `[${call('web3_clientVersion')},${call('eth_getLogs', [7])},${call('made_up')},3]`);
    await post(key, '{');
    const pointer = await ask(at.url, `/ethereum/v1/${key}/bundle-api/logs/105`);
    await ask(at.url, `/ethereum/v1/${key}/bundle-api/logs/999`);
    await ask(at.url, `/quiet/v1/${key}/bundle-api/logs/105`);
    await post(other, call('web3_clientVersion'));
    await written(row.id, { units: 1 + (1 + 5 + 1 + 1) + 1 + 3, errors: 6 });
    const rows = Object.fromEntries(
      (await usage(key, '?by=method')).rows.map(({ name, ...figures }) => [name, figures]),
    );
    expect(rows).toMatchObject({
      web3_clientVersion: { requests: 2, units: 2, errors: 0, bytes: single.body.length },
      eth_getLogs: { requests: 1, units: 5, errors: 1, bytes: 0 },
      // A method that does not exist, an item that is no call, and a body that is no JSON.
      other: { requests: 3, units: 3, errors: 3 },
      batch: { requests: 0, units: 0, errors: 0 },
      pointer: { requests: 3, units: 3, errors: 2 },
    });
    expect(rows.pointer?.bytes).toBeGreaterThan(pointer.body.length);
    expect(rows.batch?.bytes).toBeGreaterThan(100);
    const byNetwork = await usage(key, '?by=network');
    expect(byNetwork.rows).toMatchObject([
      { name: 'ethereum', units: 12 },
      { name: 'quiet', units: 1 },
    ]);
    const answer = await get(key);
    const today = new Date(at.context.clock.now()).toISOString().slice(0, 10);
    expect(answer.headers['ratelimit-cost']).toBe('0');
    expect(answer.json()).toMatchObject({
      key: row.prefix,
      application: 'test',
      by: 'day',
      until: today,
      rows: [{ name: today, units: 13 }],
      plan: {
        name: 'free',
        maxBlock: 3_000_000,
        unitsPerSecond: 25,
        unitsPerDay: 100_000,
        unitsPerMonth: null,
        callsPerSecond: {},
        maxLogRange: null,
      },
      left: {
        day: { used: 13, limit: 100_000, left: 99_987 },
        month: { used: 13, limit: null, left: null },
      },
    });
    expect(answer.text).not.toContain(key);
    expect((await usage(key, '?since=2020-01-01&until=2020-01-31')).rows).toEqual([]);
  });

  it.each([
    ['?since=yesterday', 'since', /must be a date such as 2026-11-22/],
    ['?since=2026-02-30', 'since', /must be a date/],
    ['?since=2026-01-02&until=2026-01-01', 'since', /is after "until"/],
    ['?since=2020-01-01&until=2026-01-01', 'since', /more than 400 days/],
    ['?since=999d', 'since', /more than 400 days/],
    ['?until=1', 'until', /must be a date/],
    ['?by=key', 'by', /must be one of day, method, network/],
    ['?by=day&by=day', 'by', /is repeated/],
    ['?from=1', undefined, /expected one of since, until, by/],
  ])('refuses %s', async (query, parameter, detail) => {
    const { key } = await at.makeKey();
    const answer = await get(key, query);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.json()).toMatchObject({ reason: 'query-invalid', detail: expect.stringMatching(detail) });
    expect(answer.json().parameter).toBe(parameter);
  });

  it('is for the key alone, and for keys that are for it', async () => {
    expect((await get('ph_nobody00_x')).status).toBe(401);
    expect((await get('')).status).toBe(401);
    const { key } = await at.makeKey('free', 'quiet');
    expect((await get(key)).status).toBe(403);
    expect((await get(key, '', 'quiet')).status).toBe(200);
    const make = (methods: string[]) =>
      at.database.keys.create({ application: 'test', network: null, plan: 'free', methods });
    expect((await get((await make(['eth_call'])).key)).status).toBe(403);
    expect((await get((await make(['eth_call', 'usage'])).key)).status).toBe(200);
  });
});

describe('a plan', () => {
  it('that is changed is in force on every gateway within a second', async () => {
    const { database, context, objectStore } = at;
    const networks = parseNetworks(
      "networks: [{id: ethereum, family: evm, chainId: 1, upstreams: [{url: 'http://127.0.0.1:1'}]}]",
      { source: 'test', env: {} },
    );
    const second = await createGateway({ context, database, objectStore, networks });
    const url = `http://127.0.0.1:${await second.listen(0, '127.0.0.1')}`;
    try {
      await database.plans.set('changing', {}, { make: true });
      const { key } = await at.makeKey('changing');
      const both = async () => [
        (await post(key, call('eth_getLogs', [7]))).headers['ratelimit-limit'],
        (await post(key, call('eth_getLogs', [7]), url)).headers['ratelimit-limit'],
      ];
      expect(await both()).toEqual(['25', '25']);
      await database.plans.set('changing', { requestsPerSecond: 77, methodsPerSecond: { eth_getLogs: 1 } });
      at.time.offset += 1_000;
      expect(await both()).toEqual(['77', '77']);
      at.time.frozenAt = Date.now();
      try {
        at.time.offset += 1_000;
        expect((await post(key, call('eth_getLogs', [7]))).status).toBe(200);
        const refused = await post(key, call('eth_getLogs', [7]));
        expect([refused.status, refused.json()]).toMatchObject([
          429,
          {
            error: {
              message: expect.stringContaining('includes 1 calls of eth_getLogs per second'),
              data: { reason: 'rate-limited', method: 'eth_getLogs', limit: 1, window: 'second' },
            },
          },
        ]);
        expect((await post(key, call('web3_clientVersion'))).status).toBe(200);
      } finally {
        at.time.frozenAt = null;
      }
    } finally {
      await second.close();
    }
  });

  it('warns from 80 % of a day or month on, on every route, and then refuses', async () => {
    await at.database.plans.set(
      'small',
      { requestsPerSecond: 1_000, requestsPerDay: 30, requestsPerMonth: 10 },
      { make: true },
    );
    const { key } = await at.makeKey('small');
    const pointer = () => ask(at.url, `/ethereum/v1/${key}/bundle-api/logs/1`);
    for (let n = 0; n < 7; n++) {
      expect((await pointer()).headers['packhouse-usage-warning']).toBeUndefined();
    }
    expect((await pointer()).headers['packhouse-usage-warning']).toBe('month 80% of 10 units');
    const answer = await post(key, call('web3_clientVersion'));
    expect(answer.headers['packhouse-usage-warning']).toBe('month 90% of 10 units');
    expect((await get(key)).headers['packhouse-usage-warning']).toBe('month 90% of 10 units');
    expect((await ask(at.url, `/ethereum/v1/${key}/nothing`)).headers['packhouse-usage-warning']).toBe(
      'month 90% of 10 units',
    );
    expect((await post(key, call('web3_clientVersion'))).status).toBe(200);
    const refused = await pointer();
    expect([refused.status, refused.json()]).toMatchObject([
      429,
      { reason: 'quota-exhausted', window: 'month', limit: 10, plan: 'small' },
    ]);
    expect(refused.headers['packhouse-usage-warning']).toBe('month 100% of 10 units');
    const now = at.context.clock.now();
    const month = new Date(now);
    const next = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1);
    expect(Math.abs(Number(refused.headers['retry-after']) * 1_000 - (next - now))).toBeLessThan(60_000);
    // The owner still sees why.
    expect((await usage(key)).left.month).toEqual({
      used: 10,
      limit: 10,
      left: 0,
      resetsAt: new Date(next).toISOString(),
    });
  });
});

it('costs of the networks file replace those of the table, and a name that there is not is logged', async () => {
  const networks = parseNetworks(
    "networks: [{id: ethereum, family: evm, chainId: 1, rpc: {costs: {eth_chainId: 0, eth_getLogs: 20, eth_gone: 3}}, upstreams: [{url: 'http://127.0.0.1:1'}]}]",
    { source: 'test', env: {} },
  );
  const { database, context, objectStore } = at;
  const priced = await createGateway({ context, database, objectStore, networks });
  try {
    const url = `http://127.0.0.1:${await priced.listen(0, '127.0.0.1')}`;
    const { key } = await at.makeKey();
    const cost = async (body: string) => (await post(key, body, url)).headers['ratelimit-cost'];
    expect(await cost(call('eth_chainId'))).toBe('0');
    expect(await cost(call('eth_getLogs', [7]))).toBe('20');
    expect(await cost(`[${call('eth_getLogs', [7])},${call('eth_getBlockReceipts', [7])}]`)).toBe('25');
    expect(at.log.join('')).toMatch(/"methods":\["eth_gone"\].*rpc\.costs has methods/);
  } finally {
    await priced.close();
  }
});
