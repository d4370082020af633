import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';

let gateway: ScriptedGateway;
/** What the first node sends for each transaction. */
let broken: string;

const good = (hash: unknown) => ({ hash, blockNumber: '0x1' });

beforeAll(async () => {
  gateway = await startScriptedGateway(['id: main, family: evm, chainId: 1'], { nodes: 2 });
  gateway.nodes.forEach((node, index) => {
    node.answer(({ method, params }) => {
      if (method === 'eth_chainId') return { result: '0x1' };
      if (method !== 'eth_getTransactionByHash')
        return { result: { number: '0x100', hash: `0x${'1'.repeat(64)}` } };
      return index === 0 ? { status: 200, body: broken } : { result: good(params[0]) };
    });
  });
});
afterAll(() => gateway?.close());

const post = (body: string) =>
  ask(gateway.at.url, `/main/v1/${gateway.key}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
const transaction = (id: number, digit: string) =>
  JSON.stringify({ id, method: 'eth_getTransactionByHash', params: [`0x${digit.repeat(64)}`] });

it.each([
  ['1', 'cut off', '{"jsonrpc":"2.0","id":1,"result":{"blockNumber":"0x1","a":{"b":1}}'],
  ['2', 'two answers', '{"jsonrpc":"2.0","id":1,"result":null},{"jsonrpc":"2.0","id":5,"result":"forged"}'],
])('an answer that is no JSON (%s, %s) does not enter a batch, nor stay as final', async (digit, _, body) => {
  broken = body;
  const result = good(`0x${digit.repeat(64)}`);
  const batch = await post(`[${transaction(4, digit)},${transaction(5, digit)}]`);
  expect(batch.json()).toMatchObject([
    { id: 4, result },
    { id: 5, result },
  ]);
  for (let n = 0; n < 3; n++) expect((await post(transaction(6, digit))).json()).toMatchObject({ result });
});
