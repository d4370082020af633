import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let at: TestGateway;
beforeAll(async () => {
  at = await startTestGateway();
});
afterAll(() => at.close());

const call = (key: string, body: unknown) =>
  fetch(`${at.url}/ethereum/v1/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then((answer) => answer.text());
const chainId = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
/** A key that no gateway writes for. */
const MANY = 1_000_000;
const logged = async (id: number) => (await at.database.keyRequests.list([id], 1_000)).reverse();

it('logs requests of a key while its log is on: method, status, duration and units, and no parameter', async () => {
  const { key, row } = await at.makeKey('free');
  await call(key, chainId);
  const until = await at.database.keyRequests.log([row.id], 10);
  expect(until?.getTime()).toBeGreaterThan(at.context.clock.now());
  at.time.offset += 1_000;
  await call(key, chainId);
  await call(key, [chainId, { ...chainId, method: 'eth_nonsense', params: ['s3cret'] }]);
  await fetch(`${at.url}/ethereum/v1/${key}/bundle-api/blocks/3000001?s3cret=1`);
  await expect.poll(() => logged(row.id)).toHaveLength(3);
  const requests = await logged(row.id);
  expect(requests).toMatchObject([
    {
      network: 'ethereum',
      method: 'eth_chainId',
      calls: 1,
      status: 503,
      outcome: 'upstream-unavailable',
      units: 1,
      leftOut: 0,
    },
    { method: 'eth_chainId other', calls: 2, outcome: '-32601 -32002' },
    { status: 403, outcome: 'plan-limit' },
  ]);
  for (const { ms, bytes } of requests) expect([ms > 0, bytes > 0]).toEqual([true, true]);
  expect(JSON.stringify(requests)).not.toMatch(/s3cret|eth_nonsense/);
  expect(JSON.stringify(requests)).not.toContain(key.slice(12));
  await at.database.keyRequests.log([row.id], 0);
  at.time.offset += 1_000;
  await call(key, chainId);
  await call(key, chainId);
  // What another key does is written with it: by then, everything before it is.
  const other = await at.makeKey();
  await at.database.keyRequests.log([other.row.id], 10);
  await call(other.key, chainId);
  await expect.poll(() => logged(other.row.id)).toHaveLength(1);
  expect(await logged(row.id)).toHaveLength(3);
});

it('logs parameters only while somebody asks for them: cut, without secrets, and none of unknown methods', async () => {
  const { key, row } = await at.makeKey();
  await at.database.keyRequests.log([row.id], 10, true);
  const long = `0x${'a'.repeat(5_000)}`;
  const secret = `ph_abcdefgh_${'s'.repeat(43)}`;
  const getCode = { jsonrpc: '2.0', id: 1, method: 'eth_getCode', params: [long, secret] };
  await call(key, getCode);
  await call(key, { ...getCode, method: 'eth_nonsense', params: ['s3cret'] });
  await call(key, [chainId, { ...getCode, method: 'eth_nonsense', params: ['s3cret'] }]);
  await call(key, [chainId, getCode]);
  await call(key, { ...getCode, params: Array.from({ length: 900 }, () => 'x'.repeat(20)) });
  await expect.poll(() => logged(row.id)).toHaveLength(5);
  const cut = `["${long.slice(0, 100)}…","ph_abcdefgh_***"]`;
  const params = (await logged(row.id)).map((request) => request.params);
  expect(params).toEqual([cut, null, null, `[[],${cut}]`, 'more than 16384 bytes']);
  await at.database.keyRequests.log([row.id], 10);
  at.time.offset += 1_000;
  await call(key, chainId);
  await call(key, getCode);
  await expect.poll(async () => (await logged(row.id)).length).toBeGreaterThanOrEqual(7);
  expect((await logged(row.id)).at(-1)?.params).toBeNull();
});

it('keeps the last 1,000 of a key, and counts what it leaves out of a flood', async () => {
  const { key, row } = await at.makeKey();
  await at.database.keyRequests.log([row.id], 10);
  const many = Array.from({ length: 300 }, () => call(key, chainId));
  await Promise.all(many);
  const sum = async () => {
    await call(key, chainId);
    const rows = await logged(row.id);
    return rows.length < 300 && rows.some(({ leftOut }) => leftOut > 0);
  };
  await expect.poll(sum, { timeout: 20_000, interval: 500 }).toBe(true);
  const [one] = await logged(row.id);
  if (one === undefined) throw new Error('nothing is logged');
  const { id: _, prefix: __, ...request } = one;
  const rows = Array.from({ length: 800 }, () => ({ ...request, keyId: MANY }));
  for (let times = 0; times < 3; times += 1) await at.database.keyRequests.add(rows);
  // What a statement adds is cut by the next one.
  expect(await at.database.keyRequests.list([MANY], 10_000)).toHaveLength(1_800);
});
