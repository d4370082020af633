import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createReplayNode, type ReplayNode } from './create-replay-node.js';
import { createFaultScript, type FaultKind, type FaultRule, type RandomFaults } from './faults.js';
import { generateChain } from './generate-chain.js';
import type { RecordedBlock, RpcBlock } from './recorded-block.js';
import { call, post, request } from './testing/rpc.js';

const started: ReplayNode[] = [];
let blocks: RecordedBlock[];

beforeAll(() => {
  blocks = generateChain({ length: 4, txsPerBlock: 20, startNumber: 16 });
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((node) => node.close()));
});

async function start(...faults: FaultRule[]): Promise<ReplayNode> {
  const node = await createReplayNode({ blocks, faults });
  started.push(node);
  return node;
}

const getBlock = (number: string): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_getBlockByNumber',
  params: [number, true],
});

describe('faults of the whole answer', () => {
  test('http429, http500 and html are answers of another kind, once, and then all is well', async () => {
    const { url, faults } = await start(
      { do: 'http429', when: { nth: 1 }, ms: 3000 },
      { do: 'http500', when: { nth: 2 } },
      { do: 'html', when: { nth: 3 } },
    );
    const limited = await post(url, getBlock('0x10'));
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    expect((await post(url, getBlock('0x10'))).status).toBe(500);
    const page = await post(url, getBlock('0x10'));
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
    expect(await page.text()).toMatch(/^<!DOCTYPE html>/);
    expect(await call(url, 'eth_getBlockByNumber', ['0x10', true])).toEqual(blocks[0]?.block);
    expect(faults.hits()).toEqual({ http429: 1, http500: 1, html: 1 });
  });

  test('reset ends the connection without an answer', async () => {
    const { url } = await start({ do: 'reset', when: { nth: 1 } });
    await expect(post(url, getBlock('0x10'))).rejects.toThrow('fetch failed');
    expect((await post(url, getBlock('0x10'))).status).toBe(200);
  });

  test('hang never answers, until the node is closed', async () => {
    const node = await start({ do: 'hang' });
    const waiting = post(node.url, getBlock('0x10')).then(
      () => 'answered',
      () => 'ended',
    );
    await expect.poll(() => node.faults.hits().hang).toBe(1);
    expect(node.stats().inFlight).toBe(1);
    await node.close();
    expect(await waiting).toBe('ended');
  });

  test('truncate sends half of what it promised and ends', async () => {
    const { url } = await start({ do: 'truncate', when: { nth: 1 } });
    const whole = (await (
      await post(url, getBlock('0x11'))
    )
      .arrayBuffer()
      .catch((error: Error) => error)) as Error;
    expect(whole.message).toBe('terminated');
    expect((await (await post(url, getBlock('0x11'))).json()) as object).toMatchObject({
      result: blocks[1]?.block,
    });
  });

  test('stall sends half of what it promised and then nothing', async () => {
    const node = await start({ do: 'stall' });
    const response = await post(node.url, getBlock('0x11'));
    const promised = Number(response.headers.get('content-length'));
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    let received = 0;
    while (received < Math.floor(promised / 2)) received += (await reader.read()).value?.length ?? 0;
    expect(received).toBe(Math.floor(promised / 2));
    expect(node.stats().inFlight).toBe(1);
  });

  test('slow comes late', async () => {
    const { url } = await start({ do: 'slow', ms: 120 });
    const begin = performance.now();
    await call(url, 'eth_blockNumber');
    expect(performance.now() - begin).toBeGreaterThan(115);
  });

  test('a fault of one call in a batch is one of the batch', async () => {
    const { url } = await start({ do: 'http500', when: { block: 18 } });
    expect((await post(url, [getBlock('0x10'), getBlock('0x11')])).status).toBe(200);
    expect((await post(url, [getBlock('0x11'), getBlock('0x12')])).status).toBe(500);
  });
});

describe('faults of one result', () => {
  test('empty and null answers stand where data must be', async () => {
    const { url } = await start(
      { do: 'emptyReceipts', when: { block: 16 } },
      { do: 'nullReceipts', when: { block: 17 } },
      { do: 'emptyTraces', when: { block: 18 } },
      { do: 'nullBlock', when: { block: 19 } },
    );
    expect(await call(url, 'eth_getBlockReceipts', ['0x10'])).toEqual([]);
    expect(await call(url, 'eth_getBlockReceipts', ['0x11'])).toBeNull();
    expect(await call(url, 'eth_getTransactionReceipt', [blocks[1]?.block.transactions[0]?.hash])).toBeNull();
    expect(await call(url, 'trace_block', ['0x12'])).toEqual([]);
    expect(await call(url, 'eth_getBlockByHash', [blocks[3]?.block.hash, true])).toBeNull();
    // Each fault keeps to the methods that it is about.
    expect(await call(url, 'eth_getBlockByNumber', ['0x10', true])).toEqual(blocks[0]?.block);
    expect(await call(url, 'eth_getBlockReceipts', ['0x12'])).toEqual(blocks[2]?.receipts);
  });

  test('wrongBlock answers with a neighbour', async () => {
    const { url } = await start({ do: 'wrongBlock' });
    expect((await call<RpcBlock>(url, 'eth_getBlockByNumber', ['0x12', true])).number).toBe('0x11');
    expect((await call<RpcBlock>(url, 'eth_getBlockByNumber', ['0x10', true])).number).toBe('0x11');
    expect(await call(url, 'eth_getBlockReceipts', ['0x12'])).toEqual(blocks[1]?.receipts);
  });

  test('rpcError is an error object', async () => {
    const { url } = await start({
      do: 'rpcError',
      code: -32005,
      message: 'limit exceeded',
      when: { times: 1 },
    });
    expect((await request(url, 'eth_blockNumber')).error).toEqual({
      code: -32005,
      message: 'limit exceeded',
    });
    expect((await request(url, 'eth_blockNumber')).result).toBe('0x13');
  });

  test('tamper changes one value and nothing else', async () => {
    const { url } = await start({
      do: 'tamper',
      when: { method: 'eth_getBlockByNumber', block: 17 },
      path: ['transactions', 2, 'value'],
      value: (old: unknown) => `${String(old)}0`,
    });
    const tampered = await call<RpcBlock>(url, 'eth_getBlockByNumber', ['0x11', true]);
    const expected = structuredClone(blocks[1]?.block) as RpcBlock;
    const transaction = expected.transactions[2] as Record<string, unknown>;
    transaction.value = `${String(transaction.value)}0`;
    expect(tampered).toEqual(expected);
    expect(await call(url, 'eth_getBlockByNumber', ['0x11', false])).not.toHaveProperty(
      'transactions.2.value',
    );
  });
});

describe('which calls are hit', () => {
  const target = { method: 'eth_getBlockByNumber', block: 5, key: '["0x5",true]' };
  const strikes = (rule: FaultRule, count: number): boolean[] => {
    const script = createFaultScript([rule]);
    return Array.from({ length: count }, () => script.strike(target).length > 0);
  };

  test('nth counts matching calls from 1, times says how many in a row', () => {
    expect(strikes({ do: 'http500' }, 3)).toEqual([true, true, true]);
    expect(strikes({ do: 'http500', when: { nth: 2 } }, 4)).toEqual([false, true, false, false]);
    expect(strikes({ do: 'http500', when: { times: 2 } }, 4)).toEqual([true, true, false, false]);
    expect(strikes({ do: 'http500', when: { nth: 2, times: 2 } }, 4)).toEqual([false, true, true, false]);
    expect(strikes({ do: 'http500', when: { block: 6 } }, 1)).toEqual([false]);
    expect(strikes({ do: 'http500', when: { method: 'trace_block' } }, 1)).toEqual([false]);
  });

  test('rules can be added and cleared while the node runs', async () => {
    const node = await start();
    node.faults.add({ do: 'rpcError' });
    expect((await request(node.url, 'eth_blockNumber')).error).toEqual({
      code: -32000,
      message: 'internal error',
    });
    node.faults.clear();
    expect((await request(node.url, 'eth_blockNumber')).result).toBe('0x13');
  });

  test('chance hits the same attempts of the same calls in whatever order they come, about as often as it says', () => {
    const random: RandomFaults = { seed: 4, probability: { http500: 0.2, reset: 0.1 } };
    const outcome = (order: number[]): Map<string, FaultKind[]> => {
      const script = createFaultScript([], random);
      const result = new Map<string, FaultKind[]>();
      for (const block of order) {
        const struck = script.strike({ method: 'trace_block', block, key: String(block) });
        const key = String(block);
        result.set(key, [...(result.get(key) ?? []), ...struck.map(({ do: kind }) => kind)]);
      }
      return result;
    };
    const calls = Array.from({ length: 4000 }, (_, index) => index % 2000);
    const forwards = outcome(calls);
    const backwards = outcome([...calls].reverse());
    expect([...backwards].sort()).toEqual([...forwards].sort());
    const kinds = [...forwards.values()].flat();
    expect(kinds.filter((kind) => kind === 'http500').length / calls.length).toBeCloseTo(0.2, 1);
    expect(kinds.filter((kind) => kind === 'reset').length / calls.length).toBeCloseTo(0.1, 1);
  });

  test('chance leaves a call alone after some attempts, so that whoever retries gets through', () => {
    const script = createFaultScript([], { seed: 1, probability: { http500: 1 }, cleanFromAttempt: 3 });
    const struck = Array.from({ length: 4 }, () => script.strike(target).length);
    expect(struck).toEqual([1, 1, 0, 0]);
    script.randomise(undefined);
    expect(script.strike({ ...target, key: 'other' })).toEqual([]);
  });
});
