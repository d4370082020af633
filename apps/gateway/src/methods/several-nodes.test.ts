import { parseNetworks } from '@packhouse/networks';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ChainNode, startChainNode, toLog } from '../testing/chain-node.js';
import { startTestGateway } from '../testing/test-gateway.js';

/** How the nodes of each family tell their heads. */
const FAMILIES = {
  evm: () => () => undefined,
  core: (chain: ChainNode) => (method: string) =>
    method.endsWith('_epochNumber') ? { result: `0x${chain.head.toString(16)}` } : undefined,
};

/** A gateway before nodes with these heads, preferred in their order, until the test ends; returns how to call it. */
async function gatewayTo(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  heads: readonly number[],
  family: keyof typeof FAMILIES = 'evm',
  liar?: ChainNode['instead'],
) {
  const nodes: ChainNode[] = [];
  onTestFinished(async () => {
    for (const { node } of nodes) await node.close();
  });
  // It is preferred.
  if (liar !== undefined) nodes.push(Object.assign(await startChainNode(), { instead: liar }));
  for (const head of heads) {
    const chain = Object.assign(await startChainNode(), { head });
    chain.instead = FAMILIES[family](chain);
    nodes.push(chain);
  }
  const upstreams = nodes.map(
    ({ node }, n) =>
      `{name: ${n < nodes.length - heads.length ? 'liar' : `n${n - nodes.length + heads.length}`}, url: '${node.url}', priority: ${n + 1}}`,
  );
  const networks = parseNetworks(
    `networks:\n  - {id: main, family: ${family}, chainId: 1, ${family === 'evm' ? 'pollIntervalMs: 100, ' : ''}upstreams: [${upstreams.join(', ')}]}`,
    { source: 'test', env: {} },
  );
  const started = await startTestGateway({ networks });
  onTestFinished(() => started.close());
  const { key } = await started.makeKey();
  const call = async (method: string, params: unknown[] = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const answer = await ask(started.url, `/main/v1/${key}`, { method: 'POST', body, headers });
    return answer.json() as { result?: unknown; error?: { message: string } };
  };
  await vi.waitFor(
    async () => {
      const text = (await ask(started.url, '/metrics')).text;
      for (const [n, head] of heads.entries()) {
        expect(text).toMatch(new RegExp(`packhouse_upstream_head_block\\S*upstream="n${n}"\\S* ${head}\\n`));
      }
    },
    { timeout: 120_000, interval: 20 },
  );
  return { call, nodes };
}

const HASH = `0x${'ab'.repeat(32)}`;
const OTHER = `0x${'cd'.repeat(32)}`;

const IN = (number: number) => ({ blockNumber: `0x${number.toString(16)}` });
const AT = (index: number) => ({ logIndex: `0x${index}` });
const LOG = (number: number, index: number) => ({ ...IN(number), ...AT(index), blockHash: HASH });

/** Each look-up, a right answer, and one about something else. */
const LOOK_UPS: [string, unknown[], unknown, unknown][] = [
  ['eth_getBlockByNumber', ['0x5', false], { number: '0x5' }, { number: '0x6' }],
  ['eth_getBlockByHash', [HASH, false], { hash: HASH }, { parentHash: HASH, hash: OTHER }],
  ['eth_getBlockReceipts', ['0x5'], [{ blockNumber: '0x5' }], [{ blockNumber: '0x6' }]],
  ['eth_getBlockReceipts', [{ blockHash: HASH }], [{ blockHash: HASH }], [{ blockHash: OTHER }]],
  ['eth_getTransactionByHash', [HASH], { blockHash: OTHER, hash: HASH }, { blockHash: HASH, hash: OTHER }],
  ['eth_getTransactionReceipt', [HASH], { transactionHash: HASH }, { transactionHash: OTHER }],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x5', '0x0'], { blockNumber: '0x5' }, { blockNumber: '0x6' }],
  ['eth_getTransactionByBlockHashAndIndex', [HASH, '0x0'], { blockHash: HASH }, { blockHash: OTHER }],
];

/** Answers of which only a later record is about something else, or there twice. */
const LATER: [string, unknown[], unknown, unknown][] = [
  ['eth_getBlockByNumber', ['0x5', true], { number: '0x5' }, { number: '0x5', transactions: [IN(5), IN(6)] }],
  [
    'eth_getBlockByHash',
    [HASH, true],
    { hash: HASH },
    { hash: HASH, transactions: [{ blockHash: HASH }, { blockHash: OTHER }] },
  ],
  ['eth_getBlockReceipts', ['0x5'], [IN(5)], [IN(5), IN(6)]],
  ['eth_getBlockReceipts', ['0x5'], [IN(5)], [{ ...IN(5), logs: [IN(6)] }]],
  ['eth_getBlockReceipts', ['latest'], [IN(10)], [IN(10), IN(9)]],
  ['eth_getBlockReceipts', [HASH], [{ blockHash: HASH }], [{ blockHash: HASH }, { blockHash: OTHER }]],
  ['eth_getBlockReceipts', ['0x5'], [{ logs: [AT(0), AT(1)] }], [{ logs: [AT(0)] }, { logs: [AT(0)] }]],
  [
    'eth_getTransactionReceipt',
    [HASH],
    { transactionHash: HASH },
    { transactionHash: HASH, logs: [{ transactionHash: OTHER }] },
  ],
  // ponder#2182, ponder#2309: a log twice.
  ['eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x6' }], [LOG(5, 0)], [LOG(5, 0), LOG(5, 0)]],
  ['eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x6' }], [LOG(5, 0)], [LOG(5, 0), LOG(6, 0), LOG(5, 0)]],
  ['eth_getLogs', [{ blockHash: HASH }], [LOG(5, 0)], [LOG(5, 0), LOG(5, 0)]],
  ['eth_getLogs', [{ blockHash: HASH }], [LOG(5, 0)], [LOG(5, 0), { ...LOG(5, 1), blockHash: OTHER }]],
  ['eth_getLogs', [{}], [LOG(10, 0)], [LOG(10, 0), LOG(10, 0)]],
];

it.concurrent.for(LATER)(
  '%s of %j is told as the second node has it: %j instead of %j',
  async ([method, params, right, wrong], test) => {
    const { call, nodes } = await gatewayTo(test, [10, 10]);
    for (const [n, result] of [wrong, right].entries()) {
      (nodes[n] as ChainNode).instead = (asked, block) =>
        asked === method && (method !== 'eth_getBlockByNumber' || block === '0x5') ? { result } : undefined;
    }
    expect((await call(method, params)).result).toEqual(right);
  },
);

describe.each(LOOK_UPS)('%s of %j', (method, params, right, wrong) => {
  it.for<[string, unknown]>([
    ['says null', null],
    ['answers about something else', wrong],
  ])('is told as the second node has it where the first one %s', async ([, first], test) => {
    const { call, nodes } = await gatewayTo(test, [10, 10]);
    for (const [n, result] of [first, right].entries()) {
      (nodes[n] as ChainNode).instead = (asked, block) =>
        asked === method && block !== 'latest' && block !== 'finalized' ? { result } : undefined;
    }
    expect((await call(method, params)).result).toEqual(right);
  });
});

it.concurrent.for<[string, unknown[]]>([
  ['eth_gasPrice', []],
  ['eth_maxPriorityFeePerGas', []],
  ['eth_blobBaseFee', []],
  ['eth_syncing', []],
  ['eth_feeHistory', ['0x1', 'latest', []]],
  ['eth_getBalance', [`0x${'00'.repeat(20)}`]],
  ['eth_estimateGas', [{ to: `0x${'00'.repeat(20)}` }]],
  ['eth_getBlockTransactionCountByNumber', ['latest']],
])('%s %j is answered by the node at the tip, and by no node behind it', async ([method, params], test) => {
  const { call, nodes } = await gatewayTo(test, [10, 11]);
  for (const [n, chain] of nodes.entries()) {
    chain.instead = (asked) => (asked === method ? { result: `0x${n}` } : undefined);
  }
  expect((await call(method, params)).result).toBe('0x1');
  (nodes[1] as ChainNode).alive = false;
  expect((await call(method, params)).error?.message).toContain('is known to have block 11');
});

it.concurrent.for(['eth_getBlockTransactionCountByHash', 'eth_getUncleCountByBlockHash'])(
  '%s is told as the node at the tip has it, where one behind says null',
  async (method, test) => {
    const { call, nodes } = await gatewayTo(test, [10, 11]);
    for (const [n, result] of [null, '0x2'].entries()) {
      (nodes[n] as ChainNode).instead = (asked) => (asked === method ? { result } : undefined);
    }
    expect((await call(method, [HASH])).result).toBe('0x2');
  },
);

it.concurrent.for([[{}], [{ toEpoch: '0xb' }], [{ toEpoch: 'latest_finalized' }], [{ toEpoch: '0x99' }]])(
  'core_getLogs %j is answered by a node that has the epoch, and by no other',
  async ([filter], test) => {
    const { call, nodes } = await gatewayTo(test, [10, 11], 'core');
    const heads = nodes.map(({ instead }) => instead);
    for (const [n, chain] of nodes.entries()) {
      chain.instead = (asked, first) =>
        asked.endsWith('_getLogs') ? { result: [`n${n}`] } : heads[n]?.(asked, first);
    }
    expect((await call('core_getLogs', [filter])).result).toEqual(['n1']);
    expect((await call('core_getLogs', [{ toEpoch: '0x5' }])).result).toEqual(['n0']);
    (nodes[1] as ChainNode).alive = false;
    expect((await call('core_getLogs', [filter])).error?.message).toContain('is known to have block 11');
  },
);

it.concurrent('core_getLogs of blocks by hash is told as the second node has it, where the first has none', async (test) => {
  const { call, nodes } = await gatewayTo(test, [11, 11], 'core');
  for (const [n, result] of [[], ['n1']].entries()) {
    const chain = nodes[n] as ChainNode;
    const head = chain.instead;
    chain.instead = (asked, first) => (asked.endsWith('_getLogs') ? { result } : head?.(asked, first));
  }
  expect((await call('core_getLogs', [{ blockHashes: [HASH] }])).result).toEqual(['n1']);
  expect((await call('core_getLogs', [{ toEpoch: '0x5' }])).result).toEqual([]);
});

it('loses no log of the newest block where the preferred node is one block behind and the other is slow', async (test) => {
  const { call, nodes } = await gatewayTo(test, [10, 11]);
  let asked = 0;
  const best = nodes[1] as ChainNode;
  const slow = new Promise<void>((resolve) => setTimeout(resolve, 400));
  best.node.answer(async ({ method, params }) => {
    if (method === 'eth_chainId') return { result: '0x1' };
    if (method === 'eth_getBlockByNumber') {
      return { result: { number: params[0] === 'finalized' ? '0x0' : '0xb' } };
    }
    // Long enough that another node would be asked beside it.
    if (asked++ % 20 === 0) await slow;
    return { result: [toLog(11)] };
  });
  const filter = (n: number) => ({
    fromBlock: '0xb',
    toBlock: '0xb',
    address: `0x${n.toString(16).padStart(40, '0')}`,
  });
  const answers = await Promise.all(Array.from({ length: 300 }, (_, n) => call('eth_getLogs', [filter(n)])));
  expect(answers.filter(({ result }) => JSON.stringify(result) !== JSON.stringify([toLog(11)]))).toEqual([]);
  // A node that is late is asked again, which a busy machine makes of any: but never the one that is behind.
  expect(asked).toBeGreaterThanOrEqual(300);
  expect(nodes[0]?.node.calls.filter(({ method }) => method === 'eth_getLogs')).toEqual([]);
});

it.concurrent.for<[string, object[]]>([
  ['are of another block', [toLog(6)]],
  ['are of another address', [{ ...toLog(5), address: `0x${'cd'.repeat(20)}` }]],
  ['have another topic', [{ ...toLog(5), topics: [OTHER] }]],
])('asks the second node for logs where those of the first %s', async ([, logs], test) => {
  const { call, nodes } = await gatewayTo(test, [10, 10]);
  (nodes[0] as ChainNode).instead = (method) => (method === 'eth_getLogs' ? { result: logs } : undefined);
  const filter = { fromBlock: '0x5', toBlock: '0x5', address: `0x${'ab'.repeat(20)}`, topics: [HASH] };
  expect((await call('eth_getLogs', [filter])).result).toEqual([toLog(5)]);
});

it.concurrent('takes no empty list of logs from a node that lost the block', async (test) => {
  const { call, nodes } = await gatewayTo(test, [10, 10]);
  const first = nodes[0] as ChainNode;
  first.instead = (method) => {
    if (method !== 'eth_getLogs') return undefined;
    first.head = 9;
    return { result: [] };
  };
  expect((await call('eth_getLogs', [{ fromBlock: '0xa', toBlock: '0xa' }])).result).toEqual([toLog(10)]);
});

it.concurrent('does not wait for a head that a node tells and cannot deliver', async (test) => {
  const { call, nodes } = await gatewayTo(test, [10], 'evm', (method, first) => {
    if (method !== 'eth_getBlockByNumber') return undefined;
    return first === 'latest' ? { result: { number: '0x3b9aca00' } } : { result: null };
  });
  expect((await call('eth_getBlockByNumber', ['latest', false])).result).toMatchObject({ number: '0xa' });
  const liar = nodes[0] as ChainNode;
  expect(liar.node.calls.some(({ params }) => params[0] === '0x3b9aca00')).toBe(true);
});

it.concurrent('names the block that no other node has where the newest cannot be asked', async (test) => {
  const { call, nodes } = await gatewayTo(test, [10, 510]);
  (nodes[1] as ChainNode).alive = false;
  for (const [method, params] of [
    ['eth_blockNumber', []],
    ['eth_getBlockByNumber', ['latest', false]],
    ['eth_call', [{ to: `0x${'00'.repeat(20)}` }, 'latest']],
    ['eth_getLogs', [{ fromBlock: '0x1fe', toBlock: '0x1fe' }]],
  ] as const) {
    const { error } = await call(method, [...params]);
    expect(error?.message).toContain('is known to have block 510: the highest head known of them is 10');
  }
  expect((await call('eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x5' }])).result).toEqual([toLog(5)]);
});
