import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const WAIT = { timeout: 60_000 };
const IN_FLIGHT = 4;
const HASH = `0x${'1'.repeat(64)}`;

let node: ScriptedNode;
let at: TestGateway;
let greedy: string;
let modest: string;
/** Slow calls that the node has and does not answer yet. */
let held: (() => void)[];

beforeAll(async () => {
  held = [];
  node = await startScriptedNode();
  node.answer(async ({ method }) => {
    if (method === 'eth_chainId') return { result: '0x1' };
    if (method === 'eth_getBlockByNumber')
      return { result: { number: '0x100', hash: HASH, parentHash: HASH } };
    if (method === 'eth_getTransactionByHash') return { result: null };
    await new Promise<void>((resolve) => held.push(resolve));
    return { result: [] };
  });
  const toNetwork = (id: string, batchCalls: boolean): string =>
    `{id: ${id}, family: evm, chainId: 1, rpc: {timeoutMs: 120000, callTimeoutMs: 120000},
      upstreams: [{url: '${node.url}', maxInFlight: ${IN_FLIGHT}, batchCalls: ${batchCalls}}]}`;
  const text = `networks: [${toNetwork('main', false)}, ${toNetwork('joined', true)}]`;
  const networks = parseNetworks(text, { source: 'test', env: {} });
  at = await startTestGateway({ networks });
  greedy = (await at.makeKey()).key;
  modest = (await at.makeKey()).key;
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});

const post = (key: string, body: string, network = 'main') =>
  ask(at.url, `/${network}/v1/${key}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
const logs = (n: number): string =>
  JSON.stringify({
    id: n,
    method: 'eth_getLogs',
    params: [{ blockHash: HASH, topics: [`0x${String(n).padStart(64, '0')}`] }],
  });
const call = (n: number): string =>
  JSON.stringify({
    id: n,
    method: 'eth_call',
    params: [{ to: `0x${String(n).padStart(40, '0')}` }, 'latest'],
  });
const look = (n: number): string =>
  JSON.stringify({ id: n, method: 'eth_getTransactionByHash', params: [`0x${String(n).padStart(64, '0')}`] });

it.each<[string, (n: number) => Promise<unknown>]>([
  ['eth_getLogs', (n) => post(greedy, logs(n))],
  ['eth_call', (n) => post(greedy, call(n))],
  ['batches', (n) => post(greedy, `[${call(3 * n)},${call(3 * n + 1)},${call(3 * n + 2)}]`)],
])('a key with many slow calls, %s, takes the nodes from no other key', async (_, send) => {
  // It came lately, so that a connection is kept for it.
  await post(modest, look(0));
  const slow = Array.from({ length: 20 }, (_, n) => send(n));
  await vi.waitFor(() => expect(held.length).toBe(IN_FLIGHT - 1), WAIT);
  for (let n = 1; n < 6; n++) {
    expect((await post(modest, look(n))).json()).toMatchObject({ id: n, result: null });
  }
  expect(held.length).toBe(IN_FLIGHT - 1);
  const answering = setInterval(() => held.shift()?.(), 1);
  await Promise.all(slow);
  clearInterval(answering);
});

it('a key with many slow calls takes the nodes from no other key where calls share requests', async () => {
  const quick = setInterval(() => held.shift()?.(), 1);
  // The node answers batches as fast as single calls.
  for (let n = 0; n < 8; n++) {
    await Promise.all(
      Array.from({ length: 8 }, (_, each) => post(greedy, call(1_000 + 8 * n + each), 'joined')),
    );
  }
  clearInterval(quick);
  await post(modest, look(100), 'joined');
  const slow = Array.from({ length: 20 }, (_, n) => post(greedy, call(2_000 + n), 'joined'));
  await vi.waitFor(() => expect(held.length).toBeGreaterThanOrEqual(IN_FLIGHT - 1), WAIT);
  for (let n = 101; n < 106; n++) {
    expect((await post(modest, look(n), 'joined')).json()).toMatchObject({ id: n, result: null });
  }
  const answering = setInterval(() => held.shift()?.(), 1);
  expect((await Promise.all(slow)).every(({ status }) => status === 200)).toBe(true);
  clearInterval(answering);
});
