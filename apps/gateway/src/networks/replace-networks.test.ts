import { type Network, parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ask, callRpc } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let node: ScriptedNode;
let at: TestGateway;
let key: string;

const parse = (text: string): Network[] => parseNetworks(`networks:\n${text}`, { source: 'test', env: {} });
const evm = (id: string, more = ''): string =>
  `  - {id: ${id}, family: evm, chainId: 1, upstreams: [{name: n, url: '${node.url}'}]${more}}\n`;
const cell = (): string => `  - {id: cell, family: cell, upstreams: [{name: c, url: '${node.url}'}]}\n`;

beforeAll(async () => {
  node = await startScriptedNode();
  at = await startTestGateway({ networks: parse(evm('one') + evm('two')) });
  key = (await at.makeKey()).key;
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});
beforeEach(async () => {
  node.answer(({ method }) => ({ result: method === 'eth_getBlockByNumber' ? { number: '0x5' } : '0x1' }));
  await at.gateway.replaceNetworks(parse(evm('one') + evm('two')));
});

const post = (network: string, method: string, params: unknown[] = []) =>
  callRpc(at.url, `/${network}/v1/${key}`, method, params);

const upstreamsTold = async (): Promise<string> =>
  (await ask(at.url, '/metrics')).text
    .split('\n')
    .filter((line) => line.startsWith('packhouse_upstream_healthy'))
    .join('\n');

it('networks come and go without a restart, with all their routes', async () => {
  expect((await post('cell', 'get_consensus')).status).toBe(404);
  await at.gateway.replaceNetworks(parse(evm('one') + cell()));
  node.answer(() => ({ result: { id: 'ckb' } }));
  expect((await post('cell', 'get_consensus')).json()).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { id: 'ckb' },
  });
  expect((await post('two', 'eth_chainId')).status).toBe(404);
  expect((await ask(at.url, `/two/v1/${key}/bundle-api/blocks/1`)).status).toBe(404);
  expect((await ask(at.url, `/one/v1/${key}/bundle-api/blocks/1`)).json()).toMatchObject({
    reason: 'not-covered',
  });
  const { networks } = (await ask(at.url, '/')).json() as { networks: { base_url: string }[] };
  expect(networks.map(({ base_url }) => base_url)).toEqual([`${at.url}/one/v1/`, `${at.url}/cell/v1/`]);
});

it('a request under way on a network that goes ends as it began', async () => {
  let finish = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    node.answer(async ({ method }) => {
      if (method !== 'eth_getStorageAt') return { result: { number: '0x5' } };
      resolve();
      await new Promise<void>((done) => {
        finish = done;
      });
      return { result: '0xabc' };
    });
  });
  const answer = post('two', 'eth_getStorageAt', [`0x${'11'.repeat(20)}`, '0x0', 'latest']);
  await asked;
  await at.gateway.replaceNetworks(parse(evm('one')));
  expect((await post('two', 'eth_chainId')).status).toBe(404);
  finish();
  expect((await answer).json()).toEqual({ jsonrpc: '2.0', id: 1, result: '0xabc' });
  // Only then its upstreams are released, and their gauges removed.
  await vi.waitFor(async () => expect(await upstreamsTold()).not.toContain('network="two"'), 30_000);
  expect(await upstreamsTold()).toContain('network="one"');
});

it('a network that is unchanged keeps what is known of its nodes', async () => {
  // It rests after a failure; a new upstream would be asked at once.
  node.answer(() => ({ status: 500, body: '' }));
  await vi.waitFor(async () => {
    await post('one', 'eth_chainId');
    expect(await upstreamsTold()).toContain('packhouse_upstream_healthy{network="one",upstream="n"} 0');
  }, 120_000);
  await at.gateway.replaceNetworks(parse(cell() + evm('one')));
  expect(await upstreamsTold()).toContain('packhouse_upstream_healthy{network="one",upstream="n"} 0');
  await at.gateway.replaceNetworks(parse(evm('one', ', rpc: {timeoutMs: 60000}')));
  expect(await upstreamsTold()).toContain('packhouse_upstream_healthy{network="one",upstream="n"} 1');
});

it('keys and filters go on', async () => {
  node.answer(({ method }) => ({
    result:
      method === 'eth_getBlockByNumber'
        ? { number: '0x5', hash: `0x${'05'.repeat(32)}`, parentHash: `0x${'04'.repeat(32)}` }
        : [],
  }));
  const made = (await post('one', 'eth_newBlockFilter')).json() as { result: string };
  expect(made.result).toMatch(/^0x/);
  await at.gateway.replaceNetworks(parse(cell() + evm('one', ', rpc: {timeoutMs: 60000}')));
  expect((await post('one', 'eth_getFilterChanges', [made.result])).json()).toMatchObject({ result: [] });
});

it('answers of another chain under the same name are never given from memory', async () => {
  node.answer(() => ({ result: { number: '0x1', chain: 'first' } }));
  const block = ['0x1', false];
  await vi.waitFor(async () => {
    await post('one', 'eth_getBlockByNumber', block);
    node.calls.length = 0;
    await post('one', 'eth_getBlockByNumber', block);
    expect(node.calls.filter(({ params }) => params[0] === '0x1')).toEqual([]);
  }, 120_000);
  node.answer(() => ({ result: { number: '0x1', chain: 'second' } }));
  await at.gateway.replaceNetworks(parse(evm('one').replace('chainId: 1', 'chainId: 2')));
  expect((await post('one', 'eth_getBlockByNumber', block)).json()).toMatchObject({
    result: { chain: 'second' },
  });
});

it('two networks at one address are refused, and all stays as it is', async () => {
  const hosted = `, baseUrl: '${at.url}/same/v1/'`;
  await expect(at.gateway.replaceNetworks(parse(evm('one', hosted) + evm('two', hosted)))).rejects.toThrow();
  expect((await post('one', 'eth_chainId')).status).toBe(200);
  expect((await post('two', 'eth_chainId')).status).toBe(200);
});
