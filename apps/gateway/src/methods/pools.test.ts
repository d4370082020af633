import { parseNetworks } from '@packhouse/networks';
import { describe, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ChainNode, getHash, startChainNode, toLog } from '../testing/chain-node.js';
import { startTestGateway } from '../testing/test-gateway.js';

const WHO = `0x${'ab'.repeat(20)}`;
const HEAD = 10;
const hex = (n: number): string => `0x${n.toString(16)}`;
/** Whether logs are those of one block, on either branch. */
const isLog = (block: number, result: unknown): boolean =>
  ['a', 'b'].some((branch) => JSON.stringify(result) === JSON.stringify([toLog(block, branch)]));
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
    [getHash(1)],
    (head) => (head < HEAD ? null : {}),
    (result) => result !== null,
  ],
  [
    'eth_getTransactionByHash',
    [getHash(1)],
    (head) => (head < HEAD ? null : {}),
    (result) => result !== null,
  ],
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
  ['eth_getLogs', [{ fromBlock: hex(HEAD), toBlock: hex(HEAD) }], null, (result) => isLog(HEAD, result)],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x1' }], null, (result) => isLog(1, result)],
  [
    'eth_getLogs',
    [{ blockHash: getHash(HEAD) }],
    (head) => (head < HEAD ? [] : [toLog(HEAD)]),
    (result) => isLog(HEAD, result),
  ],
];

/** What a node answers in place of the chain's answer: by how many calls it got, and whether one is about an old block. */
type Spoil = (asked: number, isOld: boolean) => ReturnType<NonNullable<ChainNode['instead']>>;
interface Pool {
  heads: [number, number];
  /** Of the preferred node, then of the other one. */
  spoil?: [Spoil] | [Spoil, Spoil];
  down?: true;
  /** The preferred node is on another branch from block 5 on. */
  forked?: true;
  /** What a refusal may say; without it there is none. */
  refuses?: RegExp;
  /** Each call waits for a node: all are sent at once. */
  together?: true;
}

const BEHIND = /block \d+|the nodes|a node (answered HTTP|broke off)/;
const FAILS = { status: 500, body: '' };
const NO_STATE = { error: { code: -32000, message: 'missing trie node abc' } };
const NO_HISTORY = { error: { code: 4444, message: 'pruned history unavailable' } };

/** Pools by what is wrong with their preferred node; those that wait longest begin first. */
const POOLS: [string, Pool][] = [
  [
    'failing while the other is behind',
    { heads: [HEAD, HEAD - 1], spoil: [() => FAILS], refuses: BEHIND, together: true },
  ],
  [
    'down while the other is behind',
    { heads: [HEAD, HEAD - 1], down: true, refuses: BEHIND, together: true },
  ],
  ['behind', { heads: [HEAD - 1, HEAD] }],
  ['far behind', { heads: [3, HEAD] }],
  ['down', { heads: [HEAD, HEAD], down: true }],
  ['slow to the end', { heads: [HEAD, HEAD], spoil: [() => 'hang'] }],
  ['on another branch', { heads: [HEAD, HEAD], forked: true }],
  ['on another branch and behind', { heads: [HEAD - 1, HEAD], forked: true }],
  ['pruned', { heads: [HEAD, HEAD], spoil: [() => NO_STATE] }],
  [
    'pruned where the other one is not',
    {
      heads: [HEAD, HEAD],
      spoil: [(_, isOld) => (isOld ? NO_HISTORY : undefined), (_, isOld) => (isOld ? undefined : NO_STATE)],
    },
  ],
  [
    'pruned as the other one is',
    {
      heads: [HEAD, HEAD],
      spoil: [(_, isOld) => (isOld ? NO_HISTORY : undefined), (_, isOld) => (isOld ? NO_HISTORY : undefined)],
      refuses: /pruned history unavailable/,
    },
  ],
  [
    'wrong once',
    { heads: [HEAD, HEAD], spoil: [(n) => (n === 0 ? { status: 200, body: '<html></html>' } : undefined)] },
  ],
  ['flapping', { heads: [HEAD, HEAD], spoil: [(n) => (n % 2 === 0 ? FAILS : undefined)] }],
];

// They wait more than they work: each has its own gateway, and several are asked at once.
describe.concurrent('each answer is right, or a refusal with its reason', () => {
  it.for(POOLS)('of a pool whose preferred node is %s', async ([, pool], { expect, onTestFinished }) => {
    const { heads, spoil, down, forked, refuses, together } = pool;
    const nodes: ChainNode[] = [];
    onTestFinished(async () => {
      for (const { node } of nodes) await node.close();
    });
    for (const [n, head] of heads.entries()) {
      const chain = Object.assign(await startChainNode(), { head });
      let asked = 0;
      let known = false;
      if (n === 0 && forked === true) chain.forks.push({ from: 5, branch: 'b' });
      chain.instead = (method, first) => {
        if (method === 'eth_chainId') return { result: '0x1' };
        const watched = method === 'eth_getBlockByNumber' && (first === 'latest' || first === 'finalized');
        if (known && !watched) {
          const from = (first as { fromBlock?: string } | null)?.fromBlock;
          const spoilt = spoil?.[n]?.(asked++, first === '0x5' || from === '0x1');
          if (spoilt !== undefined) return spoilt;
        }
        known ||= watched;
        const answer = METHODS.find(
          ([name, [one], make]) =>
            name === method &&
            make !== null &&
            (method !== 'eth_getLogs' || JSON.stringify(one) === JSON.stringify(first)),
        )?.[2];
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
    onTestFinished(() => started.close());
    const { key } = await started.makeKey();
    await vi.waitFor(async () => {
      const { text } = await ask(started.url, '/metrics');
      for (const [n, head] of heads.entries()) {
        expect(text).toMatch(new RegExp(`packhouse_upstream_head_block\\S*upstream="n${n}"\\S* ${head}\\n`));
      }
    }, 120_000);
    if (down === true) (nodes[0] as ChainNode).alive = false;
    const check = async ([method, params, , right]: (typeof METHODS)[number]): Promise<void> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json' };
      const answer = await ask(started.url, `/main/v1/${key}`, { method: 'POST', body, headers });
      const { result, error } = answer.json() as { result?: unknown; error?: { message: string } };
      const told = `${method} ${JSON.stringify(params)}: ${JSON.stringify(result ?? error)}`;
      if (error === undefined) expect(right(result), told).toBe(true);
      else {
        expect(refuses, told).toBeDefined();
        expect(error.message, told).toMatch(refuses as RegExp);
      }
    };
    if (together === true) await Promise.all(METHODS.map(check));
    else for (const each of METHODS) await check(each);
  });
});
