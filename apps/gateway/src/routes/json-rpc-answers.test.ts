import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';

let gate: ScriptedGateway;
const LARGE = 'ab'.repeat(300_000);

beforeAll(async () => {
  gate = await startScriptedGateway(['id: ethereum, family: evm, chainId: 1']);
  gate.node.answer(({ method, params }) => {
    if (method === 'eth_chainId') return { result: '0x1' };
    if (method === 'eth_call')
      return { error: { code: 3, message: 'execution reverted: ä', data: '0x08c3' } };
    if (method === 'eth_getTransactionByHash') return { result: { input: `0x${LARGE}` } };
    if (method === 'eth_getStorageAt') return { result: `0x${'0'.repeat(64)}` };
    if (method === 'eth_getBlockByNumber' && params[0] === '0x9')
      return { result: { extra: 'é'.repeat(20_000) } };
    return { result: null };
  });
});
afterAll(() => gate?.close());

const send = (body: string, apiKey = gate.key, type = 'application/json') =>
  ask(gate.at.url, `/ethereum/v1/${apiKey}`, { method: 'POST', body, headers: { 'content-type': type } });

const call = (method: string, params: string, id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
const HASH = `0x${'ab'.repeat(32)}`;
const ADDRESS = HASH.slice(0, 42);

const RESULT = (result: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, result });
const REFUSED = (code: number, reason: string, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  error: { code, data: { reason } },
});
const REVERTED = { code: 3, message: 'execution reverted: ä', data: '0x08c3' };

describe('JSON-RPC', () => {
  it.each<[string, string, number, unknown]>([
    ['a small result', call('eth_chainId', '[]'), 200, RESULT('0x1')],
    ['an id beyond latin1', call('eth_chainId', '[]', '"é€"'), 200, RESULT('0x1', 'é€')],
    [
      'a result beyond ASCII',
      call('eth_getBlockByNumber', '["0x9",true]'),
      200,
      RESULT({ extra: 'é'.repeat(20_000) }),
    ],
    [
      'a large result, which is streamed',
      call('eth_getTransactionByHash', `["${HASH}"]`),
      200,
      RESULT({ input: `0x${LARGE}` }),
    ],
    [
      "a node's own error",
      call('eth_call', `[{"to":"${ADDRESS}"},"latest"]`),
      200,
      { jsonrpc: '2.0', id: 1, error: REVERTED },
    ],
    ['a wrong parameter', call('eth_getStorageAt', '["0x1"]'), 200, REFUSED(-32602, 'params-invalid')],
    ['an unknown method', call('eth_mine', '[]'), 200, REFUSED(-32601, 'method-unknown')],
    [
      'a batch',
      `[${call('eth_chainId', '[]')},7,${call('eth_call', '[]', '"b"')}]`,
      200,
      [RESULT('0x1'), REFUSED(-32600, 'request-malformed', null), REFUSED(-32602, 'params-invalid', 'b')],
    ],
    ['a notification', '{"jsonrpc":"2.0","method":"eth_chainId"}', 204, undefined],
    ['an empty batch', '[]', 400, REFUSED(-32600, 'request-malformed', null)],
    ['no JSON', '{"jsonrpc":', 400, REFUSED(-32700, 'json-malformed', null)],
    ['an object that is no call', `{"id":"${'\xff'}"}`, 400, REFUSED(-32600, 'request-malformed', 'ÿ')],
    ['an id that is none', call('eth_chainId', '[]', '{}'), 400, REFUSED(-32600, 'request-malformed', null)],
    ['a flag as id', call('eth_chainId', '[]', 'true'), 400, REFUSED(-32600, 'request-malformed', null)],
    [
      'a flag as id of a large result',
      call('eth_getTransactionByHash', `["${HASH}"]`, 'false'),
      400,
      REFUSED(-32600, 'request-malformed', null),
    ],
    [
      'flags as ids in a batch',
      `[${['true', 'false', '[]', '1.5'].map((id) => call('eth_chainId', '[]', id)).join(',')}]`,
      200,
      [...Array(3).fill(REFUSED(-32600, 'request-malformed', null)), RESULT('0x1', 1.5)],
    ],
    [
      'a fraction as id of a large result',
      call('eth_getTransactionByHash', `["${HASH}"]`, '1.5'),
      200,
      RESULT({ input: `0x${LARGE}` }, 1.5),
    ],
  ])('answers %s, however the content type is written', async (_, body, status, expected) => {
    for (const type of ['application/json', 'Application/JSON ; charset=UTF-8; more="yes"']) {
      const answer = await send(body, gate.key, type);
      expect(answer.status).toBe(status);
      expect(answer.headers).toHaveProperty('ratelimit-limit');
      if (expected === undefined) {
        expect([answer.text, answer.headers['content-length'], answer.headers['content-type']]).toEqual([
          '',
          undefined,
          undefined,
        ]);
        continue;
      }
      expect(answer.json()).toMatchObject(expected as object);
      expect(answer.headers['content-type']).toBe('application/json');
      const streamed = answer.headers['transfer-encoding'] === 'chunked';
      expect(answer.headers['content-length']).toBe(streamed ? undefined : String(answer.body.length));
    }
  });

  it('counts against the plan, down to the refusal', async () => {
    const { key: free } = await gate.at.makeKey('free');
    gate.at.time.frozenAt = Date.now();
    const statuses: number[] = [];
    for (let n = 0; n < 26; n++) statuses.push((await send(call('eth_chainId', '[]'), free)).status);
    gate.at.time.frozenAt = null;
    expect(statuses).toEqual([...Array(25).fill(200), 429]);
  });

  it('lets no key in that was revoked', async () => {
    const { key: ended, row } = await gate.at.makeKey();
    expect((await send(call('eth_chainId', '[]'), ended)).status).toBe(200);
    await gate.at.database.keys.revoke(row.prefix);
    gate.at.time.offset += 1_000;
    expect((await send(call('eth_chainId', '[]'), ended)).status).toBe(403);
  });
});
