import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let node: ScriptedNode;
let at: TestGateway;
let key: string;
const LARGE = 'ab'.repeat(300_000);

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method, params }) => {
    if (method === 'eth_chainId') return { result: '0x1' };
    if (method === 'eth_call')
      return { error: { code: 3, message: 'execution reverted: ä', data: '0x08c3' } };
    if (method === 'eth_getTransactionByHash') return { result: { input: `0x${LARGE}` } };
    if (method === 'eth_getStorageAt') return { result: `0x${'0'.repeat(64)}` };
    if (method === 'eth_getBlockByNumber' && params[0] === '0x9')
      return { result: { extra: 'é'.repeat(20_000) } };
    return { result: null };
  });
  const networks = parseNetworks(
    `networks:\n  - {id: ethereum, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
});

afterAll(async () => {
  await at?.close();
  await node?.close();
});

/** The same request on both ways: one more parameter of the content type is not plain, so it is the router's. */
async function both(body: string, apiKey = key) {
  const send = (type: string) =>
    ask(at.url, `/ethereum/v1/${apiKey}`, { method: 'POST', body, headers: { 'content-type': type } });
  // The first one makes the key known.
  await send('application/json; charset=UTF-8; way="router"');
  const routed = await send('application/json; charset=UTF-8; way="router"');
  return { express: await send('application/json'), routed };
}

const CHANGING = [
  'date',
  'x-request-id',
  'ratelimit-remaining',
  'ratelimit-reset',
  'connection',
  'keep-alive',
];

function plain({ status, headers, text }: Awaited<ReturnType<typeof ask>>) {
  const kept = Object.entries(headers).filter(([name]) => !CHANGING.includes(name));
  return { status, headers: Object.fromEntries(kept), text: text.replaceAll(/"requestId":"[^"]*"/g, '') };
}

const call = (method: string, params: string, id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
const HASH = `0x${'ab'.repeat(32)}`;
const ADDRESS = HASH.slice(0, 42);

describe('JSON-RPC past the router', () => {
  it.each([
    ['a small result', call('eth_chainId', '[]')],
    ['an id beyond latin1', call('eth_chainId', '[]', '"é€"')],
    ['a result beyond ASCII', call('eth_getBlockByNumber', '["0x9",true]')],
    ['a large result, which is streamed', call('eth_getTransactionByHash', `["${HASH}"]`)],
    ["a node's own error", call('eth_call', `[{"to":"${ADDRESS}"},"latest"]`)],
    ['a wrong parameter', call('eth_getStorageAt', '["0x1"]')],
    ['an unknown method', call('eth_mine', '[]')],
    ['a batch', `[${call('eth_chainId', '[]')},7,${call('eth_call', '[]', '"b"')}]`],
    ['a notification', '{"jsonrpc":"2.0","method":"eth_chainId"}'],
    ['an empty batch', '[]'],
    ['no JSON', '{"jsonrpc":'],
    ['an object that is no call', `{"id":"${'\xff'}"}`],
    ['an id that is none', call('eth_chainId', '[]', '{}')],
  ])('answers %s as the router does', async (_, body) => {
    const { express, routed } = await both(body);
    expect(plain(express)).toEqual(plain(routed));
  });

  it('counts against the plan, down to the refusal', async () => {
    const { key: free } = await at.makeKey('free');
    at.time.frozenAt = Date.now();
    const statuses: number[] = [];
    for (let n = 0; n < 9; n++) {
      const { express } = await both(call('eth_chainId', '[]'), free);
      statuses.push(express.status);
    }
    at.time.frozenAt = null;
    // Three requests a round: the plan has 25.
    expect(statuses).toEqual([...Array(8).fill(200), 429]);
  });

  it('lets no key in that was revoked', async () => {
    const { key: ended, row } = await at.makeKey();
    expect((await both(call('eth_chainId', '[]'), ended)).express.status).toBe(200);
    await at.database.keys.revoke(row.prefix);
    at.time.offset += 1_000;
    expect((await both(call('eth_chainId', '[]'), ended)).express.status).toBe(403);
  });
});
