import { ALL, type Recordings } from '@packhouse/recordings';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedNode } from '../testing/scripted-node.js';

type Json = Record<string, unknown>;
interface Log extends Json {
  address: string;
  topics: string[];
  data: string;
}
interface Block {
  number: number;
  block: Json & { hash: string; transactions: (Json & { hash: string })[] };
  receipts: (Json & { transactionHash: string; logs: Log[] })[];
}

const FIRST = 17_686_110;
const LAST = 17_686_121;
const hex = (number: number): string => `0x${number.toString(16)}`;

let chain: Map<number, Block>;
let gate: ScriptedGateway;
/** Changes what the first node says. */
let lie: (method: string, result: never) => unknown = (_, result) => result;

function find(at: unknown): Block | undefined {
  if (at === 'finalized' || at === 'latest') return chain.get(LAST);
  const hash = (at as { blockHash?: string }).blockHash ?? at;
  return [...chain.values()].find(({ number, block }) => hex(number) === at || block.hash === hash);
}

interface Filter {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  address?: string[];
  topics?: (string[] | null)[];
}
function toLogs({ fromBlock, toBlock, blockHash, address, topics = [] }: Filter): Log[] {
  return [...chain.values()]
    .filter(({ number, block }) =>
      blockHash === undefined
        ? number >= Number(fromBlock) && number <= Number(toBlock)
        : block.hash === blockHash,
    )
    .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
    .filter(
      (log) =>
        (address === undefined || address.includes(log.address)) &&
        topics.every((any, at) => any === null || any.includes(log.topics[at] as string)),
    );
}

function truth(method: string, params: unknown[]): unknown {
  const [first, full] = params;
  if (method === 'eth_chainId') return '0x1';
  if (method === 'eth_blockNumber') return hex(LAST);
  if (method === 'eth_getLogs') return toLogs(first as Filter);
  if (method === 'eth_getTransactionReceipt') {
    return [...chain.values()]
      .flatMap(({ receipts }) => receipts)
      .find((each) => each.transactionHash === first);
  }
  const found = find(first);
  if (found === undefined) return null;
  if (method === 'eth_getBlockReceipts') return found.receipts;
  const { block } = found;
  return full === true ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) };
}

async function begin(source: Recordings): Promise<void> {
  chain = new Map(source.blocks<Block>('row').map((each) => [each.number, each]));
  gate = await startScriptedGateway(
    [
      'id: ethereum, family: evm, chainId: 1, pollIntervalMs: 100, rpc: {integrity: full}',
      'id: logsonly, family: evm, chainId: 1, pollIntervalMs: 100',
    ],
    // Nothing is answered from memory.
    { nodes: 2, answerCacheBytes: 1 },
  );
  for (const [at, node] of gate.nodes.entries()) {
    node.answer(({ method, params }) => {
      const result = structuredClone(truth(method, params)) ?? null;
      // Its own watching of heads is left alone.
      const watched = params[0] === 'latest' || params[0] === 'finalized';
      return { result: at === 0 && !watched ? lie(method, result as never) : result };
    });
  }
  const heads = /head_block\{[^}]*\} 17686121/g;
  const isWatched = async (): Promise<boolean> =>
    (await gate.at.context.metrics.render()).match(heads)?.length === 4 &&
    gate.nodes.every(
      (node) => gate.asked('eth_getBlockByNumber', node).filter(([at]) => at === 'finalized').length > 4,
    );
  const deadline = Date.now() + 60_000;
  while (!(await isWatched())) {
    expect(Date.now()).toBeLessThan(deadline);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Questions to a node about numbered blocks, hashes and filters. */
const questions = (node: ScriptedNode): string[] =>
  node.calls.flatMap(({ method, params }) =>
    params[0] === 'latest' || params[0] === 'finalized' || params.length === 0 ? [] : [method],
  );
const call = (method: string, params: unknown[], network = 'ethereum') => gate.call(network, method, params);
const toBlock = (number: number): Block => chain.get(number) as Block;

describe.each(ALL)('integrity: full, with $title', (source) => {
  beforeAll(() => begin(source));
  afterAll(() => gate.close());
  beforeEach(() => {
    lie = (_, result) => result;
    for (const node of gate.nodes) node.calls.length = 0;
  });

  it('passes true answers on', async () => {
    const { block, receipts } = toBlock(FIRST);
    const { transactionHash } = receipts[3] as Block['receipts'][0];
    const [log] = receipts.flatMap(({ logs }) => logs);
    for (const [method, params] of [
      ['eth_getBlockByNumber', [hex(FIRST), true]],
      ['eth_getBlockByHash', [block.hash, true]],
      ['eth_getBlockByHash', [block.hash, false]],
      ['eth_getBlockByNumber', ['latest', true]],
      ['eth_getBlockReceipts', [hex(FIRST)]],
      ['eth_getBlockReceipts', [block.hash]],
      ['eth_getTransactionReceipt', [transactionHash]],
      ['eth_getLogs', [{ blockHash: block.hash }]],
      ['eth_getLogs', [{ fromBlock: hex(FIRST), toBlock: hex(FIRST + 1), address: [log?.address] }]],
      ['eth_getLogs', [{ fromBlock: hex(LAST + 1), toBlock: hex(LAST + 1) }]],
    ] as const) {
      const answer = await call(method, [...params]);
      expect(answer, `${method} ${JSON.stringify(params)}`).toMatchObject({ status: 200 });
      expect(answer.result).toEqual(truth(method, [...params]));
    }
    expect(await gate.at.context.metrics.render()).not.toMatch(
      /^packhouse_upstream_invalid_responses_total\{/m,
    );
  });

  it('finds no log where the header says that there is none, without the receipts', async () => {
    const nobody = [`0x${'12'.repeat(20)}`];
    const filter = { fromBlock: hex(FIRST + 5), toBlock: hex(FIRST + 6), address: nobody };
    expect((await call('eth_getLogs', [filter])).result).toEqual([]);
    expect(new Set(gate.nodes.flatMap(questions))).toEqual(new Set(['eth_getLogs', 'eth_getBlockByNumber']));
  });

  const changed = (change: (log: Log) => void) => (result: { logs: Log[] }) => {
    change(result.logs[0] as Log);
    return result;
  };
  const TRANSFERS = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'];
  const number = FIRST + 1;
  const at = hex(number);
  const filter = { fromBlock: at, toBlock: hex(number + 1), topics: [TRANSFERS] };
  it.each<[string, string, () => unknown[], (result: never) => unknown]>([
    [
      'the value of a transaction',
      'eth_getBlockByNumber',
      () => [at, true],
      (result: Block['block']) => {
        (result.transactions[7] as Json).value = '0x1';
        return result;
      },
    ],
    [
      'a header',
      'eth_getBlockByHash',
      () => [toBlock(number).block.hash, false],
      (result: Json) => ({
        ...result,
        stateRoot: `0x${'ab'.repeat(32)}`,
      }),
    ],
    [
      'the transactions of a block of hashes',
      'eth_getBlockByNumber',
      () => [at, false],
      (result: Json) => ({
        ...result,
        transactions: [],
      }),
    ],
    [
      'the status of a receipt',
      'eth_getBlockReceipts',
      () => [at],
      (result: Json[]) => {
        (result[5] as Json).status = result[5]?.status === '0x1' ? '0x0' : '0x1';
        return result;
      },
    ],
    [
      'the logs of a receipt',
      'eth_getBlockReceipts',
      () => [{ blockHash: toBlock(number).block.hash }],
      (result: { logs: Log[] }[]) => {
        result.find(({ logs }) => logs.length > 0)?.logs.shift();
        return result;
      },
    ],
    ['all receipts', 'eth_getBlockReceipts', () => [at], () => []],
    [
      'the logs of one receipt',
      'eth_getTransactionReceipt',
      () => [toBlock(number).receipts.find(({ logs }) => logs.length > 0)?.transactionHash],
      changed((log) => {
        log.topics[1] = `0x${'ab'.repeat(32)}`;
      }),
    ],
    ['a log away', 'eth_getLogs', () => [filter], (result: Log[]) => result.slice(1)],
    ['all logs away', 'eth_getLogs', () => [filter], () => []],
    [
      'the data of a log',
      'eth_getLogs',
      () => [filter],
      (result: Log[]) => {
        (result[2] as Log).data = `0x${'1'.repeat(64)}`;
        return result;
      },
    ],
    [
      'a log to another block',
      'eth_getLogs',
      () => [filter],
      (result: Log[]) => {
        (result[0] as Log).blockNumber = hex(number + 2);
        return result;
      },
    ],
    [
      'a log away by hash',
      'eth_getLogs',
      () => [{ blockHash: toBlock(number).block.hash }],
      (result: Log[]) => result.slice(0, -1),
    ],
  ])('asks another node if one changes %s', async (_, method, params, change) => {
    const key = new RegExp(
      `invalid_responses_total{network="ethereum",upstream="node-1",method="${method}"} (\\d+)`,
    );
    const count = async (): Promise<number> =>
      Number(key.exec(await gate.at.context.metrics.render())?.[1] ?? 0);
    const before = await count();
    // An alarm is written once a minute.
    gate.at.time.offset += 61_000;
    lie = (asked, result) => (asked === method && result !== null ? change(result) : result);
    const answer = await call(method, params());
    expect(answer.status).toBe(200);
    expect(answer.result).toEqual(truth(method, params()));
    expect(await count()).toBeGreaterThan(before);
    expect(questions(gate.nodes[1] as ScriptedNode)).toContain(method);
    await expect
      .poll(async () => (await gate.at.database.network('ethereum').alarms.list())[0])
      .toMatchObject({
        name: 'NODE_ANSWER_FALSE',
        message: expect.stringContaining(
          `Upstream node-1 sent answers that their blocks contradict, the last one to ${method}`,
        ),
      });
  });

  it.each([
    ['eth_getBlockByNumber', () => [at, true]],
    ['eth_getBlockByNumber', () => [at, false]],
    ['eth_getBlockReceipts', () => [at]],
    ['eth_getTransactionReceipt', () => [toBlock(number).receipts[0]?.transactionHash]],
    ['eth_getLogs', () => [filter]],
  ] as const)('passes nothing on that is no answer to %s', async (method, params) => {
    const { hash } = toBlock(number).block;
    for (const nonsense of [
      5,
      'x',
      {},
      [null],
      [{}],
      { blockHash: hash },
      [{ blockHash: hash, blockNumber: at }],
    ]) {
      lie = (asked, result) => (asked === method ? nonsense : result);
      const answer = await call(method, [...params()]);
      expect(answer.result, JSON.stringify(nonsense)).toEqual(truth(method, [...params()]));
    }
    lie = (asked, result: Json) =>
      asked === method && method === 'eth_getTransactionReceipt' ? { ...result, logs: [null] } : result;
    expect((await call(method, [...params()])).result).toEqual(truth(method, [...params()]));
    expect(gate.at.log.filter((line) => line.includes('TypeError'))).toEqual([]);
  });

  it('refuses an answer that no node proves, and blames none that it cannot disprove', async () => {
    for (const node of gate.nodes) {
      node.answer(({ method, params }) => {
        const result = structuredClone(truth(method, params)) as Json;
        return { result: params[0] === at ? { ...result, gasUsed: '0x1' } : result };
      });
    }
    expect(await call('eth_getBlockByNumber', [at, false])).toMatchObject({
      status: 502,
      error: { code: -32603, data: { reason: 'upstream-nonsense' } },
    });
    for (const node of gate.nodes) {
      node.answer(({ method, params }) =>
        method === 'eth_getBlockReceipts'
          ? { error: { code: -32_601, message: 'the method does not exist' } }
          : { result: truth(method, params) ?? null },
      );
    }
    expect(await call('eth_getLogs', [filter])).toMatchObject({
      status: 503,
      error: { data: { reason: 'upstream-unavailable' } },
    });
  });

  it('is off unless the networks file says so, and leaves wide ranges of logs alone', async () => {
    for (const node of gate.nodes) {
      node.answer(({ method, params }) => ({
        result: method === 'eth_getLogs' ? [] : (truth(method, params) ?? null),
      }));
      node.calls.length = 0;
    }
    expect((await call('eth_getLogs', [filter], 'logsonly')).result).toEqual([]);
    const wide = { ...filter, toBlock: hex(number + 16) };
    expect((await call('eth_getLogs', [{ ...wide, fromBlock: hex(number - 6) }])).result).toEqual([]);
    expect(new Set(gate.nodes.flatMap(questions))).toEqual(new Set(['eth_getLogs']));
  });
});
