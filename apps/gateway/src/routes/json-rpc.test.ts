import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { startNetworks, type TestGateway } from '../testing/test-gateway.js';

let node: ReplayNode;
let at: TestGateway;
let key: string;

beforeAll(async () => {
  node = await createReplayNode({ blocks: generateChain({ length: 8 }) });
  ({ at, key } = await startNetworks(
    `networks:\n  - {id: ethereum, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`,
  ));
});

afterAll(async () => {
  await at?.close();
  await node?.close();
});

async function post(body: string, path = `/ethereum/v1/${key}`) {
  return ask(at.url, path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
}

describe('one call', () => {
  it('gets what the node said', async () => {
    const answer = await post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}');
    expect([answer.status, answer.text]).toEqual([200, '{"jsonrpc":"2.0","id":1,"result":"0x1"}']);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  it.each(['1', '"a\\u0062c"', 'null', '12345678901234567890', '1.50', '-0'])(
    'gets its id back as it was written: %s',
    async (id) => {
      const { text } = await post(`{"jsonrpc":"2.0","method":"eth_chainId","id": ${id} }`);
      expect(text).toBe(`{"jsonrpc":"2.0","id":${id},"result":"0x1"}`);
    },
  );

  it('gets a block of any size byte for byte', async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x3",true]}';
    const direct = await ask(node.url, '/', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect((await post(body)).text).toBe(direct.text);
  });

  it('is answered with nothing where it is a notification', async () => {
    const answer = await post('{"jsonrpc":"2.0","method":"eth_chainId"}');
    expect([answer.status, answer.text]).toEqual([204, '']);
  });
});

describe('a refusal', () => {
  it.each([
    ['no JSON', '{', 400, -32700, 'null'],
    ['invalid UTF-8', '"\ud800', 400, -32700, 'null'],
    ['an empty batch', '[]', 400, -32600, 'null'],
    ['no method', '{"jsonrpc":"2.0","id":7}', 400, -32600, '7'],
    ['another version', '{"jsonrpc":"1.0","id":"x","method":"eth_chainId"}', 400, -32600, '"x"'],
    ['an unknown method', '{"jsonrpc":"2.0","id":7,"method":"eth_nothing"}', 200, -32601, '7'],
    ['1,001 calls', `[${Array(1_001).fill('{"id":1,"method":"eth_chainId"}').join()}]`, 413, -32005, 'null'],
  ])('of %s is an envelope', async (_, body, status, code, id) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject({
      jsonrpc: '2.0',
      id: JSON.parse(id) as unknown,
      error: { code, data: { requestId: answer.headers['x-request-id'] } },
    });
  });

  it('of a key is an envelope', async () => {
    const answer = await post('{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}', '/ethereum/v1/wrong');
    expect([answer.status, answer.json()]).toMatchObject([401, { error: { code: -32001 } }]);
  });
});

it('a batch is answered in its order, without its notifications, each call by itself', async () => {
  const answer = await post(
    '[{"id":"a","method":"eth_chainId"},{"method":"eth_chainId"},{"id":2,"method":"no"},5,{"id":3,"method":"net_version"}]',
  );
  expect(answer.status).toBe(200);
  expect(answer.json()).toMatchObject([
    { id: 'a', result: '0x1' },
    { id: 2, error: { code: -32601 } },
    { id: null, error: { code: -32600 } },
    { id: 3 },
  ]);
});
