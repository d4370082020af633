import { ALL } from '@packhouse/recordings';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createReplayNode, type ReplayNode, type ReplayNodeOptions } from './create-replay-node.js';
import { gethError } from './debug-traces.js';
import { extendChain } from './extend-chain.js';
import { generateChain } from './generate-chain.js';
import { joinChains } from './join-chains.js';
import type { RecordedBlock, RpcBlock, RpcLog, RpcTrace } from './recorded-block.js';
import type { ServedBlock } from './served-chain.js';
import { call, post, quantity, type RpcResponse, request } from './testing/rpc.js';

const started: ReplayNode[] = [];
let blocks: RecordedBlock[];

beforeAll(() => {
  blocks = generateChain({ length: 6, txsPerBlock: 8, startNumber: 200 });
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((node) => node.close()));
});

async function start(options: Partial<ReplayNodeOptions> = {}): Promise<ReplayNode> {
  const node = await createReplayNode({ blocks, ...options });
  started.push(node);
  return node;
}

function record(number: number): RecordedBlock {
  return blocks.find((block) => block.number === number) as RecordedBlock;
}

async function expectServed(url: string, { number, block, receipts, traces }: RecordedBlock): Promise<void> {
  const hashes = { ...block, transactions: block.transactions.map(({ hash }) => hash) };
  expect(await call(url, 'eth_getBlockByNumber', [quantity(number), true])).toEqual(block);
  expect(await call(url, 'eth_getBlockByHash', [block.hash, true])).toEqual(block);
  expect(await call(url, 'eth_getBlockByNumber', [quantity(number), false])).toEqual(hashes);
  expect(await call(url, 'eth_getBlockByHash', [block.hash, false])).toEqual(hashes);
  if (receipts !== undefined) {
    for (const parameter of [quantity(number), block.hash, { blockHash: block.hash }]) {
      expect(await call(url, 'eth_getBlockReceipts', [parameter])).toEqual(receipts);
    }
  }
  if (traces !== undefined) expect(await call(url, 'trace_block', [quantity(number)])).toEqual(traces);
}

describe('what a node serves', () => {
  test('equals what was recorded, by number, by hash, whole and with hashes', async () => {
    const { url } = await start();
    for (const recorded of blocks) await expectServed(url, recorded);
  });

  const expectAllServed = async (recording: RecordedBlock[]): Promise<void> => {
    const { url } = await start({ blocks: recording });
    for (const recorded of recording) await expectServed(url, recorded);
  };

  describe.each(ALL)('equals, of $title,', (source) => {
    test.each(['row', 'forks', 'optimism'] as const)('what was recorded: %s', (name) =>
      expectAllServed(source.blocks<RecordedBlock>(name)),
    );

    test('what was recorded of very many tiny blocks, in batches', async () => {
      const recording = source.blocks<RecordedBlock>('early');
      expect(recording.length).toBeGreaterThan(1_000);
      const { url } = await start({ blocks: recording });
      for (let from = 0; from < recording.length; from += 512) {
        const part = recording.slice(from, from + 512);
        const batch = part.map(({ number }) => ({
          jsonrpc: '2.0',
          id: number,
          method: 'eth_getBlockByNumber',
          params: [quantity(number), true],
        }));
        const answers = (await (await post(url, batch)).json()) as RpcResponse[];
        expect(answers.map(({ result }) => result)).toEqual(part.map(({ block }) => block));
      }
    });
  });

  test('are receipts and transactions one by one', async () => {
    const { url } = await start();
    const { block, receipts = [] } = record(203);
    for (const [index, { hash }] of block.transactions.entries()) {
      expect(await call(url, 'eth_getTransactionReceipt', [hash])).toEqual(receipts[index]);
      expect(await call(url, 'eth_getTransactionByHash', [hash])).toEqual(block.transactions[index]);
    }
    expect(await call(url, 'eth_getTransactionReceipt', [`0x${'ab'.repeat(32)}`])).toBeNull();
  });

  test("are geth's traces: flat ones in its words or parity's, and nested ones", async () => {
    const { url } = await start();
    const { block, traces = [] } = record(202);
    const flat = (config: object): Promise<{ txHash: string; result: RpcTrace[] }[]> =>
      call(url, 'debug_traceBlockByHash', [block.hash, { tracer: 'flatCallTracer', tracerConfig: config }]);
    const parity = await flat({ convertParityErrors: true });
    expect(parity.flatMap(({ result }) => result)).toEqual(traces);
    expect(parity.map(({ txHash }) => txHash)).toEqual(block.transactions.map(({ hash }) => hash));
    const words = (await flat({})).flatMap(({ result }) => result.map(({ error }) => error));
    expect(words).toEqual(traces.map(({ error }) => (error === undefined ? undefined : gethError(error))));
    const nested = await call<{ result: Record<string, unknown> }[]>(url, 'debug_traceBlockByNumber', [
      '0xca',
      { tracer: 'callTracer' },
    ]);
    expect(nested.map(({ result }) => [result.from, result.value])).toEqual(
      block.transactions.map(({ from, value }) => [from, value]),
    );
    expect(JSON.stringify(nested).split('"gasUsed"').length - 1).toBe(traces.length);
  });

  test('are logs, by range, by block hash, by address and topics', async () => {
    const { url } = await start();
    const all = blocks.flatMap(({ receipts = [] }) => receipts.flatMap(({ logs }) => logs));
    const range = { fromBlock: 'earliest', toBlock: 'latest' };
    expect(await call(url, 'eth_getLogs', [range])).toEqual(all);
    const [first] = all as [RpcLog];
    const same = all.filter(
      ({ address, topics }) => address === first.address && topics[0] === first.topics[0],
    );
    const filter = { ...range, address: [first.address], topics: [[first.topics[0]]] };
    expect(await call(url, 'eth_getLogs', [filter])).toEqual(same);
    const inBlock = all.filter(({ blockHash }) => blockHash === record(204).block.hash);
    expect(await call(url, 'eth_getLogs', [{ blockHash: record(204).block.hash }])).toEqual(inBlock);
  });

  test('is an extended chain, as its blocks are', async () => {
    const chain = extendChain(blocks, { length: 40 });
    const { url } = await start({ blocks: chain });
    const reads = Array.from({ length: 40 }, (_, index) => 200 + index).map(async (number) => {
      const block = await call<RpcBlock>(url, 'eth_getBlockByNumber', [quantity(number), true]);
      const receipts = await call<{ blockHash: string }[]>(url, 'eth_getBlockReceipts', [block.hash]);
      return [block.hash, ...receipts.map(({ blockHash }) => blockHash)];
    });
    for (const [index, hashes] of (await Promise.all(reads)).entries()) {
      expect(new Set(hashes)).toEqual(new Set([chain.block(200 + index)?.hash]));
    }
  });
});

describe('the head', () => {
  test('hides what is above it until it is moved', async () => {
    const node = await start({ head: 202, chainId: 10, finalized: { depth: 2 } });
    const above = record(203);
    expect(await call(node.url, 'eth_chainId')).toBe('0xa');
    expect(await call(node.url, 'net_version')).toBe('10');
    expect(await call(node.url, 'eth_blockNumber')).toBe('0xca');
    const hidden = async (): Promise<unknown[]> => [
      await call(node.url, 'eth_getBlockByNumber', ['0xcb', true]),
      await call(node.url, 'eth_getBlockByHash', [above.block.hash, true]),
      await call(node.url, 'eth_getBlockReceipts', ['0xcb']),
      await call(node.url, 'trace_block', ['0xcb']),
      await call(node.url, 'eth_getTransactionReceipt', [above.block.transactions[0]?.hash]),
    ];
    expect(await hidden()).toEqual([null, null, null, null, null]);
    expect(
      (await request(node.url, 'debug_traceBlockByHash', [above.block.hash, { tracer: 'callTracer' }])).error,
    ).toEqual({ code: -32000, message: `block ${above.block.hash} not found` });
    node.setHead(203);
    expect(await hidden()).toEqual([
      above.block,
      above.block,
      above.receipts,
      above.traces,
      above.receipts?.[0],
    ]);
  });

  test('is what the tags are counted from', async () => {
    const node = await start({ head: 204, finalized: { depth: 2 } });
    const numbers = async (): Promise<number[]> =>
      Promise.all(
        ['latest', 'pending', 'finalized', 'safe', 'earliest'].map(async (tag) =>
          Number((await call<RpcBlock>(node.url, 'eth_getBlockByNumber', [tag, false])).number),
        ),
      );
    expect(await numbers()).toEqual([204, 204, 202, 202, 200]);
    node.setHead(201);
    expect(await numbers()).toEqual([201, 201, 200, 200, 200]);
    node.setFinalized(201);
    expect(await numbers()).toEqual([201, 201, 201, 201, 200]);
  });

  test('moves to the branch in a reorganisation, and the abandoned blocks are gone', async () => {
    const trunk = extendChain(blocks, { length: 10 });
    const node = await start({ blocks: trunk });
    const abandoned = trunk.block(209)?.hash;
    const branch = extendChain(blocks, { length: 4, seed: 9, after: trunk.block(206) as ServedBlock });
    node.setBlocks(joinChains(trunk, branch));
    expect(await call(node.url, 'eth_blockNumber')).toBe(quantity(210));
    expect(await call(node.url, 'eth_getBlockByHash', [abandoned, false])).toBeNull();
    const latest = await call<RpcBlock>(node.url, 'eth_getBlockByNumber', ['latest', false]);
    expect(latest.hash).toBe(branch.block(210)?.hash);
  });
});

describe("refusals in geth's words", () => {
  test('of unknown methods, and of those that the node is told not to have', async () => {
    const { url } = await start({
      capabilities: {
        receiptsByBlock: false,
        receiptsByTransaction: false,
        traceBlock: false,
        debugFlat: false,
        finalizedTag: false,
      },
    });
    for (const method of [
      'eth_mine',
      'toString',
      'eth_getBlockReceipts',
      'eth_getTransactionReceipt',
      'trace_block',
    ]) {
      expect(await request(url, method, ['0xc8'])).toEqual({
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32601, message: `the method ${method} does not exist/is not available` },
      });
    }
    const { block } = record(200);
    const flat = await request(url, 'debug_traceBlockByHash', [block.hash, { tracer: 'flatCallTracer' }]);
    expect(flat.error?.message).toMatch(/^ReferenceError: flatCallTracer is not defined/);
    expect(await call(url, 'debug_traceBlockByHash', [block.hash, { tracer: 'callTracer' }])).toHaveLength(
      block.transactions.length,
    );
    const finalized = await request(url, 'eth_getBlockByNumber', ['finalized', false]);
    expect(finalized.error).toEqual({
      code: -32602,
      message: 'invalid argument 0: hex string without 0x prefix',
    });
  });

  test.each([
    [[], 'missing value for required argument 0'],
    [['200'], 'invalid argument 0: hex string without 0x prefix'],
    [['0x00c8'], 'invalid argument 0: invalid hex string'],
    [[200], 'invalid argument 0: hex string without 0x prefix'],
  ])('of the parameters %j', async (params, message) => {
    const { url } = await start();
    expect((await request(url, 'eth_getBlockByNumber', params)).error).toEqual({ code: -32602, message });
  });

  test('of bodies that are no calls, other methods of HTTP and other types', async () => {
    const { url } = await start({ batch: { max: 2 } });
    const answer = async (body: unknown): Promise<unknown> => (await post(url, body)).json();
    const error = (code: number, message: string, id: unknown = null): unknown => ({
      jsonrpc: '2.0',
      id,
      error: { code, message },
    });
    expect(await answer('{"a"')).toEqual(error(-32700, 'parse error'));
    expect(await answer('[]')).toEqual(error(-32600, 'empty batch'));
    expect(await answer('{"id":1}')).toEqual(error(-32600, 'invalid request', 1));
    expect(await answer('[1]')).toEqual([error(-32600, 'invalid request')]);
    expect(await answer([{ id: 1 }, { id: 2 }, { id: 3 }])).toEqual([error(-32600, 'batch too large', 1)]);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url, { method: 'PUT', body: '{}' })).status).toBe(405);
    expect((await post(url, '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(url, ' '.repeat(6 * 1024 * 1024))).status).toBe(413);
  });

  test('of blocks that were recorded without what is asked for', async () => {
    const { number, block } = record(200);
    const { url } = await start({ blocks: [{ number, block }] });
    expect((await request(url, 'eth_getBlockReceipts', ['latest'])).error?.message).toMatch(
      /^block 200 was recorded/,
    );
    expect((await request(url, 'trace_block', ['latest'])).error?.code).toBe(-32000);
    await expect(createReplayNode({ blocks: [] })).rejects.toThrow('no blocks in it');
  });
});

test('a batch is answered call by call, in order, failures among them', async () => {
  const { url, stats } = await start();
  const batch = [
    { jsonrpc: '2.0', id: 'a', method: 'eth_blockNumber' },
    { jsonrpc: '2.0', id: 2, method: 'nothing', params: [] },
    { jsonrpc: '2.0', id: 3, method: 'eth_getBlockReceipts', params: ['0xc9'] },
  ];
  expect(await (await post(url, batch)).json()).toEqual([
    { jsonrpc: '2.0', id: 'a', result: '0xcd' },
    {
      jsonrpc: '2.0',
      id: 2,
      error: { code: -32601, message: 'the method nothing does not exist/is not available' },
    },
    { jsonrpc: '2.0', id: 3, result: record(201).receipts },
  ]);
  expect(stats()).toMatchObject({
    requests: 1,
    calls: 3,
    largestBatch: 3,
    callsByMethod: { eth_blockNumber: 1 },
  });
});

test('a port that is taken is an error', async () => {
  const { port } = await start();
  await expect(createReplayNode({ blocks, port })).rejects.toThrow('EADDRINUSE');
});
