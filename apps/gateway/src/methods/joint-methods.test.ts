import { parseNetworks } from '@packhouse/networks';
import { createMetrics } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { SharedAnswers } from '../cache/answer-cache.js';
import { createGateway } from '../create-gateway.js';
import { ask, callRpc } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const HASH = `0x${'1'.repeat(64)}`;
const ASKED = /getLogs|accountList/;

let node: ScriptedNode;
let at: TestGateway;
let key: string;
let networks: ReturnType<typeof parseNetworks>;
/** Resolves when the node may answer. */
let held = Promise.resolve();
/** The results that gateways share, as in Redis. */
const known = new Map<string, Buffer>();
const sharedAnswers: SharedAnswers = {
  get: async (name) => known.get(name),
  set: (name, result) => void known.set(name, result),
};

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(async ({ method }) => {
    if (method === 'eth_getBlockByNumber') {
      return { result: { number: '0x100', hash: HASH, parentHash: HASH } };
    }
    if (ASKED.test(method)) await held;
    if (method === 'das_accountList') return { result: { errno: 0, errmsg: '', data: { account_list: [] } } };
    return { result: method.endsWith('getLogs') ? [{ logIndex: '0x0' }] : '0x1' };
  });
  const upstreams = `upstreams: [{url: '${node.url}'}]`;
  networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, finality: {tag: false, depth: 100}, ${upstreams}}
  - {id: core, family: core, chainId: 1029, ${upstreams}}
  - {id: names, family: registry, rpc: {open: false}, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks, sharedAnswers });
  key = (await at.makeKey()).key;
  await headKnown(() => at.context.metrics.render());
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});

const headKnown = (metrics: () => Promise<string>): Promise<void> =>
  vi.waitFor(async () => expect(await metrics()).toContain('head_block{network="main"'), { timeout: 60_000 });
const findCalls = () => node.calls.filter(({ method }) => ASKED.test(method));
const post = (network: string, method: string, params: unknown[], url = at.url) =>
  callRpc(url, `/${network}/v1/${key}`, method, params);

it.each([
  ['main', 'eth_getLogs', [{ fromBlock: '0xa5', toBlock: '0xa6' }]],
  ['main', 'eth_getLogs', [{ blockHash: HASH }]],
  ['core', 'core_getLogs', [{ limit: '0x1' }]],
  ['names', 'registry_accountList', [{ type: 'blockchain', key_info: { coin_type: '60', key: '0x0' } }]],
])('on %s the same %s at the same time goes to the nodes once', async (network, method, params) => {
  let release = (): void => undefined;
  held = new Promise((resolve) => {
    release = resolve;
  });
  const before = findCalls().length;
  const three = [1, 2, 3].map(() => post(network, method, params));
  await vi.waitFor(
    async () =>
      expect((await ask(at.url, '/metrics')).text).toMatch(
        new RegExp(`packhouse_rpc_in_flight\\{network="${network}"\\} 3$`, 'm'),
      ),
    { timeout: 60_000 },
  );
  release();
  const answers = await Promise.all(three);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.json()).toHaveProperty('result');
  expect(findCalls()).toHaveLength(before + 1);
  // A later caller asks again.
  await post(network, method, params);
  expect(findCalls()).toHaveLength(before + 2);
});

it('logs of final blocks that another gateway had are not asked for again', async () => {
  const params = [{ fromBlock: '0x1', toBlock: '0x20' }];
  const first = await post('main', 'eth_getLogs', params);
  expect(known.size).toBe(1);
  const { context, database, objectStore } = at;
  const metrics = createMetrics();
  const other = await createGateway({
    context: { ...context, metrics },
    database,
    objectStore,
    networks,
    sharedAnswers,
  });
  try {
    const url = `http://127.0.0.1:${await other.listen(0, '127.0.0.1')}`;
    // Only a gateway that knows the final block looks there.
    await headKnown(() => metrics.render());
    const asked = findCalls().length;
    expect((await post('main', 'eth_getLogs', params, url)).text).toBe(first.text);
    expect(findCalls()).toHaveLength(asked);
  } finally {
    await other.close();
  }
});
