import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

/** `one` and `two` share the path /v1 and differ by host name; `plain` has another path. */
const NAMES = ['one', 'two', 'plain'] as const;
let nodes: ScriptedNode[];
let at: TestGateway;
let key: string;

beforeAll(async () => {
  nodes = await Promise.all(NAMES.map(() => startScriptedNode()));
  const networks = NAMES.map((name, n) => {
    nodes[n]?.answer(({ method }) => ({ result: method === 'eth_chainId' ? `0x${n + 1}` : name }));
    const host = name === 'plain' ? '' : `baseUrl: 'https://${name}.example.com/v1/', `;
    return `  - {id: ${name}, family: evm, chainId: ${n + 1}, ${host}upstreams: [{url: '${nodes[n]?.url}'}]}`;
  });
  at = await startTestGateway({
    networks: parseNetworks(`networks:\n${networks.join('\n')}`, { source: 'test', env: {} }),
  });
  key = (await at.makeKey()).key;
});
afterAll(async () => {
  await at?.close();
  for (const node of nodes ?? []) await node.close();
});

const post = (path: string, host: string, method = 'POST') =>
  ask(at.url, path, {
    method,
    body: '{"id":1,"method":"net_version"}',
    headers: { host, 'content-type': 'application/json', 'content-length': '31' },
  });

it.each([
  ['one.example.com', 'one'],
  ['two.example.com', 'two'],
  ['TWO.example.com', 'two'],
  ['one.example.com:8080', 'one'],
])('at the host %s a call goes to the nodes of the network %s', async (host, name) => {
  // The first request puts the key in memory, and later ones are answered from there.
  for (let n = 0; n < 3; n++) {
    const answer = await post(`/v1/${key}`, host);
    expect([answer.status, answer.json()]).toMatchObject([200, { id: 1, result: name }]);
  }
});

it('a network that is told by its path is there at every host', async () => {
  for (const host of ['one.example.com', 'elsewhere.example.com', 'localhost']) {
    expect((await post(`/plain/v1/${key}`, host)).json()).toMatchObject({ result: 'plain' });
  }
});

it('a host that no network has gets nothing from any of them', async () => {
  const before = nodes.flatMap(({ calls }) => calls).filter(({ method }) => method === 'net_version').length;
  for (const host of ['elsewhere.example.com', 'example.com', 'one.example.com.evil.example', 'localhost']) {
    expect((await post(`/v1/${key}`, host)).status).toBe(404);
  }
  const after = nodes.flatMap(({ calls }) => calls).filter(({ method }) => method === 'net_version').length;
  expect(after).toBe(before);
});

it('refusals are envelopes there too, and a key of the one is none of the other', async () => {
  const { key: ofOne } = await at.makeKey('unlimited', 'one');
  expect((await post(`/v1/${ofOne}`, 'one.example.com')).json()).toMatchObject({ result: 'one' });
  for (let n = 0; n < 2; n++) {
    const abroad = await post(`/v1/${ofOne}`, 'two.example.com');
    expect([abroad.status, abroad.json()]).toMatchObject([403, { error: { data: { reason: 'forbidden' } } }]);
  }
  const verb = await post(`/v1/${key}`, 'two.example.com', 'PUT');
  expect([verb.status, verb.json()]).toMatchObject([405, { error: { code: -32600 } }]);
  const nobody = await post('/v1/', 'two.example.com');
  expect([nobody.status, nobody.json()]).toMatchObject([401, { error: { code: -32001 } }]);
});
