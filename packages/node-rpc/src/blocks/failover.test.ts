import { PackhouseError } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { answer, envelopes, RpcError, type ScriptedNode } from '../../test/scripted-node.js';
import {
  getBlockHash,
  getTransactionHash,
  serveChain,
  smallChain,
  toReceipts,
} from '../../test/small-chain.js';
import { collect, isFetched, testContext, testUpstream, useNodes } from '../../test/test-source.js';
import type { FailedBlock, FetchedBlock } from './block-source.js';

const ALL = { receipts: true, traces: true };
const BLOCKS_ONLY = { receipts: false, traces: false };

const getMethods = (node: ScriptedNode): string[] =>
  node.requests.flatMap((request) => request.calls.map((call) => call.method));

function failure(block: FetchedBlock | FailedBlock | undefined): PackhouseError {
  if (block === undefined || isFetched(block)) throw new Error('the block did not fail');
  expect(block.error).toBeInstanceOf(PackhouseError);
  return block.error as PackhouseError;
}

describe('a pool of upstreams', () => {
  const use = useNodes();

  it('asks the upstream of the best priority and leaves the other alone', async () => {
    const first = await use.node(serveChain(smallChain()));
    const second = await use.node(serveChain(smallChain()));
    const { source } = use.source([
      testUpstream(second.url, { name: 'second', priority: 2 }),
      testUpstream(first.url, { name: 'first', priority: 1 }),
    ]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 99 }, ALL));
    expect(new Set(blocks.map((block) => isFetched(block) && block.upstream))).toEqual(new Set(['first']));
    expect(second.requests).toHaveLength(0);
  });

  it('shares the work among upstreams of one priority', async () => {
    const nodes = [await use.node(serveChain(smallChain())), await use.node(serveChain(smallChain()))];
    for (const node of nodes) {
      node.intercept = async () => {
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return false;
      };
    }
    const { source } = use.source(
      nodes.map((node, index) => testUpstream(node.url, { name: `node ${index}` })),
    );
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 999 }, ALL));
    expect(blocks.every(isFetched)).toBe(true);
    for (const node of nodes) expect(node.requests.length).toBeGreaterThan(5);
  });

  it('goes on with the next upstream when the first cannot be reached', async () => {
    const gone = await use.node(serveChain(smallChain()));
    const here = await use.node(serveChain(smallChain()));
    await gone.close();
    const { source } = use.source([
      testUpstream(gone.url, { name: 'gone', priority: 1 }),
      testUpstream(here.url, { name: 'here', priority: 2 }),
    ]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 499 }, ALL));
    expect(blocks.every((block) => isFetched(block) && block.upstream === 'here')).toBe(true);
    expect(source.status().map((status) => [status.name, status.healthy])).toEqual([
      ['gone', false],
      ['here', true],
    ]);
  });

  it('gives up after bounded tries when nothing can be reached, every block in its place', async () => {
    const gone = await use.node(serveChain(smallChain()));
    await gone.close();
    const { source } = use.source([testUpstream(gone.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 3, lastBlock: 202 }, ALL));
    expect(blocks.map((block) => block.number)).toEqual(Array.from({ length: 200 }, (_, index) => 3 + index));
    const error = failure(blocks[0]);
    expect(error.code).toBe('NODE_UNREACHABLE');
    expect(error.message).toMatch(
      /^Node main \(http:\/\/127\.0\.0\.1:\d+\/?\) refused the connection \(connection refused\) when asked /,
    );
    expect(blocks[0]).toMatchObject({ upstreams: ['main'] });
  });

  it('sends nothing more to an upstream that hangs than it takes to see that it does', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = () => true;
    const { source } = use.source([testUpstream(node.url)], { timeoutMs: 50 });
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 199 }, BLOCKS_ONLY));
    expect(blocks.every((block) => failure(block).code === 'NODE_TIMEOUT')).toBe(true);
    expect(failure(blocks[199]).message).toContain('did not begin to answer in time');
    expect(node.requests.length).toBeLessThan(30);
  });

  it('asks for less at once where large batches end in closed connections', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (request, response) => {
      if (request.calls.length <= 4) return false;
      response.destroy();
      return true;
    };
    const { source } = use.source([testUpstream(node.url, { maxInFlight: 1 })]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 49 }, BLOCKS_ONLY));
    expect(blocks.every(isFetched)).toBe(true);
    expect(node.requests.some((request) => request.calls.length > 4)).toBe(true);
  });

  it('comes back to an upstream once it answers again', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (_, response) => {
      response.destroy();
      return true;
    };
    const context = testContext();
    const { source } = use.source([testUpstream(node.url)], { context });
    const lost = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 99 }, BLOCKS_ONLY));
    expect(lost.every((block) => !isFetched(block))).toBe(true);
    expect(source.status()[0]?.healthy).toBe(false);
    const tries = node.requests.length;
    expect(tries).toBeLessThan(60);
    node.intercept = null;
    context.clock.jump(60_000);
    const found = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 99 }, BLOCKS_ONLY));
    expect(found.every(isFetched)).toBe(true);
    expect(source.status()[0]?.healthy).toBe(true);
    expect(context.lines.filter((line) => /circuit (opened|closed)/.test(line))).toHaveLength(2);
  });

  it('waits for an upstream that rests for long only where it is asked to be patient', async () => {
    const node = await use.node(serveChain(smallChain()));
    const context = testContext();
    const { source } = use.source([testUpstream(node.url)], { context });
    // Each try after the first five doubles the rest: until it is longer than blocks wait.
    const rest = async (): Promise<void> => {
      node.intercept = (_, response) => {
        response.destroy();
        return true;
      };
      for (let tries = 0; tries < 3; tries++) {
        await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 9 }, BLOCKS_ONLY));
        context.clock.jump(5_000);
      }
      node.intercept = null;
    };
    await rest();
    const asked = node.requests.length;
    await expect(source.fetchBlock(3, BLOCKS_ONLY)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    expect(node.requests).toHaveLength(asked);
    expect(await source.fetchBlock(3, BLOCKS_ONLY, { patient: true })).toMatchObject({ number: 3 });
  });

  it('asks an upstream after its rest, also if the timer fires before its time', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (_, response) => {
      response.destroy();
      return true;
    };
    const context = testContext();
    const { source } = use.source([testUpstream(node.url)], { context });
    await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 9 }, BLOCKS_ONLY));
    expect(source.status()[0]?.healthy).toBe(false);
    node.intercept = null;
    context.clock.sleep = async (ms) => context.clock.jump(Math.max(1, ms - 3));
    expect(await source.fetchBlock(3, BLOCKS_ONLY, { patient: true })).toMatchObject({ number: 3 });
  });

  it('takes blocks that one upstream does not have yet from the other', async () => {
    const behind = await use.node(serveChain(smallChain({ head: 50 })));
    const ahead = await use.node(serveChain(smallChain({ head: 200 })));
    const { source } = use.source([
      testUpstream(behind.url, { name: 'behind', priority: 1 }),
      testUpstream(ahead.url, { name: 'ahead', priority: 2 }),
    ]);
    await source.probe(BLOCKS_ONLY);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 150 }, ALL));
    expect(blocks.every(isFetched)).toBe(true);
    expect(blocks.slice(60).every((block) => isFetched(block) && block.upstream === 'ahead')).toBe(true);
    const asked = behind.requests.flatMap((request) => request.calls.map((call) => Number(call.params[0])));
    expect(asked.filter((number) => number > 70)).toEqual([]);
  });

  it('calls a null block missing, and names the upstream, the block and the head', async () => {
    const chain = smallChain();
    const node = await use.node((call) => (Number(call.params[0]) === 33 ? null : serveChain(chain)(call)));
    const { source } = use.source([testUpstream(node.url)]);
    await source.head();
    const blocks = await collect(source.fetchBlocks({ firstBlock: 30, lastBlock: 40 }, ALL));
    expect(blocks.filter(isFetched)).toHaveLength(10);
    const error = failure(blocks[3]);
    expect(error.code).toBe('NODE_ANSWER_MISSING');
    expect(error.message).toContain(
      'answered null though its head is 999 when asked eth_getBlockByNumber for block 33',
    );
    expect(error.data).toMatchObject({ upstream: 'main', block: 33 });
  });

  it.each([
    ['null receipts', 'eth_getBlockReceipts', null],
    ['an empty list of receipts', 'eth_getBlockReceipts', []],
    ['null traces', 'trace_block', null],
    ['an empty list of traces', 'trace_block', []],
  ])('believes no upstream that answers %s for a block with transactions', async (_, method, lie) => {
    const chain = smallChain({ transactions: () => 3 });
    const liar = await use.node((call) => (call.method === method ? lie : serveChain(chain)(call)));
    const honest = await use.node(serveChain(chain));
    const { source } = use.source([
      testUpstream(liar.url, { name: 'liar', priority: 1 }),
      testUpstream(honest.url, { name: 'honest', priority: 2 }),
    ]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 49 }, ALL));
    expect(blocks.every((block) => isFetched(block) && block.upstream === 'honest')).toBe(true);
    const alone = use.source([testUpstream(liar.url, { name: 'liar' })]).source;
    const [failed] = await collect(alone.fetchBlocks({ firstBlock: 7, lastBlock: 7 }, ALL));
    expect(failure(failed).code).toBe('NODE_ANSWER_MISSING');
  });

  it('takes fewer receipts than transactions for missing ones', async () => {
    const chain = smallChain({ transactions: () => 3 });
    const node = await use.node((call) =>
      call.method === 'eth_getBlockReceipts' ? toReceipts(chain, 7).slice(1) : serveChain(chain)(call),
    );
    const { source } = use.source([testUpstream(node.url)]);
    const [failed] = await collect(source.fetchBlocks({ firstBlock: 7, lastBlock: 7 }, ALL));
    expect(failure(failed).message).toContain('answered with 2 receipts for 3 transactions');
  });

  it('fetches a block again when its traces are of another block: a reorganisation came between', async () => {
    const chain = smallChain({ transactions: () => 1 });
    let races = 2;
    const node = await use.node((call) => {
      const result = serveChain(chain)(call);
      if (call.method !== 'trace_block' || races === 0) return result;
      races -= 1;
      return (result as object[]).map((trace) => ({ ...trace, blockHash: getBlockHash(-1) }));
    });
    const { source } = use.source([testUpstream(node.url)]);
    const [block] = await collect(source.fetchBlocks({ firstBlock: 9, lastBlock: 9 }, ALL));
    expect(block !== undefined && isFetched(block)).toBe(true);
    expect(getMethods(node).filter((method) => method === 'eth_getBlockByNumber')).toHaveLength(3);
  });

  it('lets the other blocks of a range through when one fails everywhere', async () => {
    const chain = smallChain();
    const handler = (call: Parameters<ReturnType<typeof serveChain>>[0]): unknown => {
      if (call.method === 'trace_block' && Number(call.params[0]) === 77) throw new RpcError(-32000, 'boom');
      return serveChain(chain)(call);
    };
    const first = await use.node(handler);
    const second = await use.node(handler);
    const { source } = use.source([
      testUpstream(first.url, { name: 'first' }),
      testUpstream(second.url, { name: 'second', priority: 2 }),
    ]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 299 }, ALL));
    expect(blocks.map((block) => block.number)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(blocks.filter((block) => !isFetched(block)).map((block) => block.number)).toEqual([77]);
    expect(blocks[77]).toMatchObject({ upstreams: ['first', 'second'] });
    expect(failure(blocks[77])).toMatchObject({ code: 'NODE_ERROR' });
    const asked = [...first.requests, ...second.requests]
      .flatMap((request) => request.calls)
      .filter((call) => call.method === 'trace_block' && Number(call.params[0]) === 77);
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  it('fetches one block again from somebody else', async () => {
    const first = await use.node(serveChain(smallChain()));
    const second = await use.node(serveChain(smallChain()));
    const { source } = use.source([
      testUpstream(first.url, { name: 'first', priority: 1 }),
      testUpstream(second.url, { name: 'second', priority: 2 }),
    ]);
    expect((await source.fetchBlock(7, ALL)).upstream).toBe('first');
    expect((await source.fetchBlock(7, ALL, { avoid: ['first'] })).upstream).toBe('second');
    expect((await source.fetchBlock(7, ALL, { avoid: ['first', 'second'] })).upstream).toBe('first');
    await expect(source.fetchBlock(1_000, ALL)).rejects.toMatchObject({ code: 'NODE_ANSWER_MISSING' });
  });

  it('asks an upstream that failed a proof last, for a while, and counts it', async () => {
    const first = await use.node(serveChain(smallChain()));
    const second = await use.node(serveChain(smallChain()));
    const context = testContext();
    const { source } = use.source(
      [
        testUpstream(first.url, { name: 'first', priority: 1 }),
        testUpstream(second.url, { name: 'second', priority: 2 }),
      ],
      { context },
    );
    source.reportInvalidResponse('first');
    expect((await source.fetchBlock(7, ALL)).upstream).toBe('second');
    expect(source.status()[0]?.healthy).toBe(false);
    expect(await context.metrics.render()).toContain(
      'packhouse_upstream_invalid_responses_total{network="testnet",upstream="first",method="block"} 1',
    );
    context.clock.jump(600_001);
    expect((await source.fetchBlock(7, ALL)).upstream).toBe('first');
  });

  it('waits as long as Retry-After says, then goes on with smaller requests', async () => {
    const node = await use.node(serveChain(smallChain()));
    const context = testContext();
    const refusedAt: number[] = [];
    node.intercept = (request, response) => {
      if (request.calls.length <= 4) return false;
      refusedAt.push(context.clock.now());
      response.writeHead(429, { 'retry-after': '7' }).end('Too Many Requests');
      return true;
    };
    const { source } = use.source([testUpstream(node.url)], { context });
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 63 }, BLOCKS_ONLY));
    expect(blocks.every(isFetched)).toBe(true);
    expect(context.clock.slept.some((ms) => ms > 6_000 && ms <= 7_000)).toBe(true);
    expect(source.status()[0]?.healthy).toBe(true);
    expect(refusedAt.length).toBeGreaterThan(0);
  });

  it('uses the other upstream while the first one asks for a pause', async () => {
    const busy = await use.node(serveChain(smallChain()));
    busy.intercept = (_, response) => {
      response.writeHead(429, { 'retry-after': '30' }).end();
      return true;
    };
    const free = await use.node(serveChain(smallChain()));
    const context = testContext();
    const { source } = use.source(
      [
        testUpstream(busy.url, { name: 'busy', priority: 1 }),
        testUpstream(free.url, { name: 'free', priority: 2 }),
      ],
      { context },
    );
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 199 }, ALL));
    expect(blocks.every((block) => isFetched(block) && block.upstream === 'free')).toBe(true);
    expect(context.clock.slept.every((ms) => ms < 10_000)).toBe(true);
  });

  it('never ends the iteration with an error of a node, whatever the node does', async () => {
    const chain = smallChain({ transactions: (number) => number % 3 });
    const node = await use.node(serveChain(chain));
    let turn = 0;
    const nonsense = [
      '',
      '<!DOCTYPE html><html>502</html>',
      '{"jsonrpc":"2.0","id":1,"resu',
      '[]',
      'null',
      '42',
      '"text"',
      '{"jsonrpc":"2.0","id":"x","result":{}}',
      '{"jsonrpc":"2.0","id":null,"error":null}',
      '{"error":"boom"}',
      '[{"id":1},{"id":{}},null,7,[]]',
      '\ufeff{}',
    ];
    node.intercept = (request, response) => {
      turn += 1;
      if (turn % 3 !== 0) return false;
      const body = nonsense[(turn / 3) % nonsense.length] as string;
      if (turn % 9 === 0) {
        response.writeHead(200, { 'content-length': 1_000 });
        response.write(body);
        setImmediate(() => response.destroy());
      } else if (turn % 6 === 0) {
        const values = [{}, [], 7, 'x', [null], [{ result: null }], { transactions: 7 }, { hash: 1 }];
        answer(request, response, () => values[turn % values.length]);
      } else response.writeHead(turn % 2 === 0 ? 200 : 500).end(body);
      return true;
    };
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 399 }, ALL));
    expect(blocks.map((block) => block.number)).toEqual(Array.from({ length: 400 }, (_, index) => index));
    for (const block of blocks) if (!isFetched(block)) expect(block.error).toBeInstanceOf(PackhouseError);
    expect(blocks.filter(isFetched).length).toBeGreaterThan(200);
  });

  it('asks again only for what was left out of a batch', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (request, response) => {
      if (request.calls.length < 16) return false;
      response.end(JSON.stringify(envelopes(request, node.handler).slice(0, 12).reverse()));
      return true;
    };
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 15 }, BLOCKS_ONLY));
    expect(blocks.every(isFetched)).toBe(true);
    const again = node.requests
      .slice(1)
      .flatMap((request) => request.calls.map((call) => Number(call.params[0])));
    expect(again.sort((a, b) => a - b)).toEqual([12, 13, 14, 15]);
  });

  it('gives receipts one by one where there is no eth_getBlockReceipts, in the order of the transactions', async () => {
    const chain = smallChain({ transactions: () => 3, without: new Set(['eth_getBlockReceipts']) });
    const node = await use.node((call) => {
      if (call.method !== 'eth_getTransactionReceipt') return serveChain(chain)(call);
      return toReceipts(chain, 7).find((receipt) => receipt.transactionHash === call.params[0]) ?? null;
    });
    const { source } = use.source([testUpstream(node.url)]);
    const block = await source.fetchBlock(7, ALL);
    expect(
      (block.receipts as { transactionHash: string }[]).map((receipt) => receipt.transactionHash),
    ).toEqual([getTransactionHash(7, 0), getTransactionHash(7, 1), getTransactionHash(7, 2)]);
    expect(source.status()[0]?.capabilities.receipts).toBe('eth_getTransactionReceipt');
    await source.fetchBlock(7, ALL);
    expect(getMethods(node).filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1);
    await expect(source.fetchBlock(8, ALL)).rejects.toMatchObject({ code: 'NODE_ANSWER_MISSING' });
  });

  it.each([
    ['by hash object', (key: unknown) => typeof key === 'object'],
    ['by number', (key: unknown) => typeof key === 'string' && key.length < 66],
  ])('asks for receipts %s where a bare hash is refused', async (form, takes) => {
    const chain = smallChain({ transactions: () => 2 });
    const node = await use.node((call) => {
      if (call.method === 'eth_getBlockReceipts' && !takes(call.params[0])) {
        throw new RpcError(-32602, 'invalid argument 0: hex string has length 64');
      }
      return serveChain(chain)(call);
    });
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 49 }, ALL));
    expect(blocks.every((block) => isFetched(block) && block.receipts?.length === 2)).toBe(true);
    expect(source.status()[0]?.capabilities.receipts).toBe(`eth_getBlockReceipts ${form}`);
  });

  it('goes on with another tracer when a method goes missing in the middle', async () => {
    const chain = smallChain({ transactions: () => 1, difficulty: '0x0' });
    const frame = {
      type: 'CALL',
      from: '0x1',
      to: '0x2',
      value: '0x1',
      gas: '0x1',
      gasUsed: '0x1',
      input: '0x',
    };
    const node = await use.node((call) => {
      if (call.method !== 'debug_traceBlockByHash') return serveChain(chain)(call);
      // Like a node that does not know flatCallTracer.
      if ((call.params[1] as { tracer: string }).tracer === 'flatCallTracer') return [{ result: {} }];
      return [{ result: frame }];
    });
    const { source } = use.source([testUpstream(node.url)]);
    await source.fetchBlock(7, ALL);
    expect(source.status()[0]?.capabilities.traces).toBe('trace_block');
    chain.without.add('trace_block');
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 99 }, ALL));
    expect(blocks.every(isFetched)).toBe(true);
    expect((blocks[5] as FetchedBlock).traces).toEqual([
      expect.objectContaining({ type: 'call', blockNumber: 5, transactionHash: getTransactionHash(5, 0) }),
    ]);
    expect(source.status()[0]?.capabilities.traces).toBe('debug_traceBlockByHash with callTracer');
  });

  it('names the tracer of a node whose frames have no gas', async () => {
    const chain = smallChain({ transactions: () => 1, without: new Set(['trace_block']) });
    const { gas: _, ...frame } = { type: 'CALL', from: '0x1', to: '0x2', gas: '0x1', input: '0x' };
    const node = await use.node((call) => {
      if (call.method !== 'debug_traceBlockByHash') return serveChain(chain)(call);
      return [{ result: (call.params[1] as { tracer: string }).tracer === 'callTracer' ? frame : {} }];
    });
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 0 }, ALL));
    expect(failure(blocks[0])).toMatchObject({
      code: 'NODE_ANSWER_INVALID',
      hint: expect.stringContaining('callTracer is too old'),
    });
  });

  it('says which methods are missing when nobody has them', async () => {
    const chain = smallChain({ transactions: () => 1, without: new Set(['trace_block']) });
    const node = await use.node(serveChain(chain));
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 9 }, ALL));
    expect(failure(blocks[0]).code).toBe('NODE_METHOD_MISSING');
    const without = await collect(
      source.fetchBlocks({ firstBlock: 0, lastBlock: 9 }, { receipts: true, traces: false }),
    );
    expect(without.every(isFetched)).toBe(true);
  });
});
