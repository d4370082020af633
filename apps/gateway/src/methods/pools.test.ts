import { parseNetworks } from '@packhouse/networks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ChainNode, hashOf, logOf, startChainNode } from '../testing/chain-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const WHO = `0x${'ab'.repeat(20)}`;
const HEAD = 10;
const hex = (n: number): string => `0x${n.toString(16)}`;
const number = (result: unknown) => Number((result as { number: string } | null)?.number);

/** Each method with its parameters; what a node with this head answers; whether a result is right at head 10 or later. */
const METHODS: [string, unknown[], ((head: number) => unknown) | null, (result: unknown) => boolean][] = [
  ['eth_blockNumber', [], (head) => hex(head), (result) => Number(result) >= HEAD],
  ['eth_getBlockByNumber', ['latest', false], null, (result) => number(result) >= HEAD],
  ['eth_getBlockByNumber', [hex(HEAD), false], null, (result) => number(result) === HEAD],
  ['eth_getBlockByNumber', ['0x5', false], null, (result) => number(result) === 5],
  [
    'eth_getBlockReceipts',
    [hex(HEAD)],
    (head) => (head < HEAD ? null : []),
    (result) => Array.isArray(result),
  ],
  [
    'eth_getTransactionReceipt',
    [hashOf(1)],
    (head) => (head < HEAD ? null : {}),
    (result) => result !== null,
  ],
  ['eth_getTransactionByHash', [hashOf(1)], (head) => (head < HEAD ? null : {}), (result) => result !== null],
  ['eth_call', [{ to: WHO }, 'latest'], hex, (result) => Number(result) >= HEAD],
  ['eth_estimateGas', [{ to: WHO }], hex, (result) => Number(result) >= HEAD],
  ['eth_getBalance', [WHO], hex, (result) => Number(result) >= HEAD],
  ['eth_getStorageAt', [WHO, '0x0', 'pending'], hex, (result) => Number(result) >= HEAD],
  ['eth_gasPrice', [], hex, (result) => Number(result) >= HEAD],
  ['eth_feeHistory', ['0x1', 'latest', []], hex, (result) => Number(result) >= HEAD],
  [
    'eth_getBlockTransactionCountByNumber',
    [hex(HEAD)],
    (head) => (head < HEAD ? null : '0x1'),
    (result) => result === '0x1',
  ],
  [
    'eth_getLogs',
    [{ fromBlock: hex(HEAD), toBlock: hex(HEAD) }],
    null,
    (result) => JSON.stringify(result) === JSON.stringify([logOf(HEAD)]),
  ],
  [
    'eth_getLogs',
    [{ fromBlock: '0x1', toBlock: '0x1' }],
    null,
    (result) => JSON.stringify(result) === JSON.stringify([logOf(1)]),
  ],
];

type Spoil = (method: string, n: number) => ReturnType<NonNullable<ChainNode['instead']>>;

/** Pools by what is wrong with their preferred node: its head, and what it answers in place of the chain's answer. */
const POOLS: [string, { heads: [number, number]; spoil?: Spoil; down?: true }][] = [
  ['behind', { heads: [HEAD - 1, HEAD] }],
  ['far behind', { heads: [3, HEAD] }],
  ['down', { heads: [HEAD, HEAD], down: true }],
  [
    'pruned',
    { heads: [HEAD, HEAD], spoil: () => ({ error: { code: -32000, message: 'missing trie node abc' } }) },
  ],
  [
    'wrong once',
    { heads: [HEAD, HEAD], spoil: (_, n) => (n === 0 ? { status: 200, body: '<html></html>' } : undefined) },
  ],
  [
    'flapping',
    { heads: [HEAD, HEAD], spoil: (_, n) => (n % 2 === 0 ? { status: 500, body: '' } : undefined) },
  ],
  [
    'failing while the other is behind',
    { heads: [HEAD, HEAD - 1], spoil: () => ({ status: 500, body: '' }) },
  ],
  ['down while the other is behind', { heads: [HEAD, HEAD - 1], down: true }],
];

describe.each(POOLS)('of a pool whose preferred node is %s', (_, { heads, spoil, down }) => {
  let nodes: ChainNode[] = [];
  let at: TestGateway | undefined;
  afterEach(async () => {
    await at?.close();
    for (const { node } of nodes) await node.close();
    nodes = [];
  });

  it('each answer is right, or a refusal with its reason', async () => {
    for (const [n, head] of heads.entries()) {
      const chain = Object.assign(await startChainNode(), { head });
      let asked = 0;
      let known = false;
      chain.instead = (method, first) => {
        if (method === 'eth_chainId') return { result: '0x1' };
        const watched = method === 'eth_getBlockByNumber' && (first === 'latest' || first === 'finalized');
        if (n === 0 && known && !watched) {
          const spoilt = spoil?.(method, asked++);
          if (spoilt !== undefined) return spoilt;
        }
        known ||= watched;
        const answer = METHODS.find(([name, , make]) => name === method && make !== null)?.[2];
        return answer ? { result: answer(chain.head) } : undefined;
      };
      nodes.push(chain);
    }
    const upstreams = nodes.map(({ node }, n) => `{name: n${n}, url: '${node.url}', priority: ${n + 1}}`);
    const networks = parseNetworks(
      `networks:\n  - {id: main, family: evm, chainId: 1, pollIntervalMs: 100, upstreams: [${upstreams.join()}]}`,
      { source: 'test', env: {} },
    );
    const started = await startTestGateway({ networks });
    at = started;
    const { key } = await started.makeKey();
    await vi.waitFor(async () => {
      const { text } = await ask(started.url, '/metrics');
      for (const [n, head] of heads.entries()) {
        expect(text).toMatch(new RegExp(`packhouse_upstream_head_block\\S*upstream="n${n}"\\S* ${head}\\n`));
      }
    }, 20_000);
    if (down === true) (nodes[0] as ChainNode).alive = false;
    for (const [method, params, , right] of METHODS) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json' };
      const answer = await ask(started.url, `/main/v1/${key}`, { method: 'POST', body, headers });
      const { result, error } = answer.json() as { result?: unknown; error?: { message: string } };
      const told = `${method} ${JSON.stringify(params)}: ${JSON.stringify(result ?? error)}`;
      if (error === undefined) expect(right(result), told).toBe(true);
      else {
        // Only where the other node does not have the block.
        expect(heads[1], told).toBeLessThan(HEAD);
        expect(error.message, told).toMatch(/block \d+|the nodes|a node (answered HTTP|broke off)/);
      }
    }
  }, 60_000);
});
