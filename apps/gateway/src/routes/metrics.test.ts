import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, callRpc } from '../testing/ask.js';
import { type ScriptedAnswer, type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startNetworks, type TestGateway } from '../testing/test-gateway.js';

const WAIT = { timeout: 60_000 };
let node: ScriptedNode;
let at: TestGateway;
let key: string;

beforeAll(async () => {
  node = await startScriptedNode();
  ({ at, key } = await startNetworks(
    `networks: [{id: main, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}]`,
  ));
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});

const call = (method: string, params: unknown[]) => callRpc(at.url, `/main/v1/${key}`, method, params);
/** Memory in use under this name, from `/metrics`. */
const getBytes = async (cache: string): Promise<number> => {
  const { text } = await ask(at.url, '/metrics');
  const line = new RegExp(`^packhouse_gateway_cache_bytes\\{cache="${cache}"\\} (\\d+)$`, 'm').exec(text);
  return Number(line?.[1]);
};

it('GET /metrics tells how many bytes of answers are remembered, and how many are held for clients', async () => {
  let logs: (answer: ScriptedAnswer) => void = () => undefined;
  node.answer(({ method, params }) =>
    method === 'eth_getLogs'
      ? new Promise((resolve) => {
          logs = resolve;
        })
      : {
          result: {
            number: params[0] === '0x32' ? '0x32' : '0x64',
            hash: `0x${'1'.repeat(64)}`,
            parentHash: `0x${'2'.repeat(64)}`,
          },
        },
  );
  expect([await getBytes('answers'), await getBytes('held')]).toEqual([0, 0]);
  await expect
    .poll(async () => {
      // It is remembered as soon as the gateway knows that it is final.
      await call('eth_getBlockByNumber', ['0x32', false]);
      return getBytes('answers');
    }, WAIT)
    .toBeGreaterThan(100);
  const answer = call('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }]);
  await expect.poll(() => getBytes('held'), WAIT).toBeGreaterThan(100);
  logs({ result: [] });
  expect((await answer).json()).toEqual({ jsonrpc: '2.0', id: 1, result: [] });
  await expect.poll(() => getBytes('held'), WAIT).toBe(0);
});
