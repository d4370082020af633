import { systemClock } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { answer } from '../../test/scripted-node.js';
import { getBlockHash, serveChain, smallChain } from '../../test/small-chain.js';
import { collect, isFetched, testContext, testUpstream, useNodes } from '../../test/test-source.js';

const ALL = { receipts: true, traces: true };
const BLOCKS_ONLY = { receipts: false, traces: false };

const upTo = (firstBlock: number, lastBlock: number): number[] =>
  Array.from({ length: lastBlock - firstBlock + 1 }, (_, index) => firstBlock + index);

describe('fetchBlocks', () => {
  const use = useNodes();

  it('yields every block of the range in order, with receipts and traces', async () => {
    const node = await use.node(serveChain(smallChain({ transactions: (number) => number % 4 })));
    // Later requests are answered first, if they have arrived.
    const held: (() => void)[] = [];
    node.intercept = async (request, response) => {
      await new Promise<void>((resolve) => {
        held.push(resolve);
        setImmediate(() => setImmediate(() => held.pop()?.()));
      });
      answer(request, response, node.handler);
      return true;
    };
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 100, lastBlock: 399 }, ALL));
    expect(blocks.map((block) => block.number)).toEqual(upTo(100, 399));
    for (const block of blocks) {
      if (!isFetched(block)) throw block.error;
      expect(block.upstream).toBe('main');
      expect((block.block as { hash: string }).hash).toBe(getBlockHash(block.number));
      expect(block.receipts).toHaveLength(block.number % 4);
      expect(block.traces).toHaveLength((block.number % 4) + 1);
      expect(block.bytes).toBeGreaterThan(0);
    }
  });

  it('leaves out what was not asked for', async () => {
    const node = await use.node(serveChain(smallChain({ transactions: () => 2 })));
    const { source } = use.source([testUpstream(node.url)]);
    const [block] = await collect(source.fetchBlocks({ firstBlock: 5, lastBlock: 5 }, BLOCKS_ONLY));
    expect(block).toMatchObject({ receipts: undefined, traces: undefined });
    expect(node.requests.flatMap((request) => request.calls.map((call) => call.method))).toEqual([
      'eth_getBlockByNumber',
    ]);
  });

  it('asks for no receipts of blocks without transactions, and after the merge for no traces either', async () => {
    const chain = smallChain({ difficulty: '0x0' });
    const node = await use.node(serveChain(chain));
    const { source } = use.source([testUpstream(node.url)]);
    const [block] = await collect(source.fetchBlocks({ firstBlock: 5, lastBlock: 5 }, ALL));
    expect(block).toMatchObject({ receipts: [], traces: [] });
    expect(node.requests).toHaveLength(1);
    chain.difficulty = '0x1';
    await collect(source.fetchBlocks({ firstBlock: 6, lastBlock: 6 }, ALL));
    expect(node.requests.map((request) => request.calls[0]?.method)).toEqual([
      'eth_getBlockByNumber',
      'eth_getBlockByNumber',
      'trace_block',
    ]);
  });

  it('asks for receipts by the hash of the block that it got', async () => {
    const node = await use.node(serveChain(smallChain({ transactions: () => 1, difficulty: '0x0' })));
    const { source } = use.source([testUpstream(node.url)]);
    await collect(source.fetchBlocks({ firstBlock: 7, lastBlock: 7 }, ALL));
    const calls = node.requests.flatMap((request) => request.calls);
    expect(calls.find((call) => call.method === 'eth_getBlockReceipts')?.params).toEqual([getBlockHash(7)]);
  });

  it('puts more and more tiny blocks in a request, up to 100, and keeps several in flight', async () => {
    const node = await use.node(serveChain(smallChain({ head: 5_000 })));
    node.intercept = async () => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return false;
    };
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 4_095 }, ALL));
    expect(blocks.filter(isFetched)).toHaveLength(4_096);
    const sizes = node.requests.map((request) => request.calls.length);
    expect(sizes[0]).toBe(16);
    expect(Math.max(...sizes)).toBe(100);
    expect(node.mostInFlight).toBeGreaterThan(4);
    expect(node.mostInFlight).toBeLessThanOrEqual(16);
    expect(node.requests.length).toBeLessThan(150);
  });

  it('asks for big blocks one by one', async () => {
    const big = `0x${'ab'.repeat(150_000)}`;
    const node = await use.node(serveChain(smallChain({ head: 5_000, extraData: () => big })));
    const { source } = use.source([testUpstream(node.url)]);
    await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 99 }, BLOCKS_ONLY));
    // The first requests were sent before any size was known.
    expect(node.requests.slice(4).every((request) => request.calls.length === 1)).toBe(true);
    expect(node.requests.length).toBeGreaterThan(30);
  });

  it('halves its batches where the node refuses long ones, and stays below', async () => {
    const node = await use.node(serveChain(smallChain({ head: 5_000 })));
    node.intercept = (request, response) => {
      if (request.calls.length <= 10) return false;
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } }),
      );
      return true;
    };
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 999 }, BLOCKS_ONLY));
    expect(blocks.filter(isFetched)).toHaveLength(1_000);
    const refused = node.requests.filter((request) => request.calls.length > 10);
    expect(refused.length).toBeLessThan(node.requests.length / 4);
  });

  it('goes without batches where the node does not know them', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (request, response) => {
      if (!request.batch) return false;
      response.writeHead(400).end('Bad Request');
      return true;
    };
    const { source } = use.source([testUpstream(node.url)]);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 199 }, BLOCKS_ONLY));
    expect(blocks.filter(isFetched)).toHaveLength(200);
    expect(source.status()[0]?.healthy).toBe(true);
  });

  it('stops fetching when the reader is slow: what is fetched ahead stays within the budget', async () => {
    const kilobytes = 100;
    const chain = smallChain({ head: 5_000, extraData: () => `0x${'ab'.repeat(kilobytes * 512)}` });
    const node = await use.node(serveChain(chain));
    let served = 0;
    node.intercept = (request) => {
      served += request.calls.length;
      return false;
    };
    const budgetBytes = 3_000_000;
    const { source } = use.source([testUpstream(node.url)], { maxInFlightBytes: () => budgetBytes });
    const reader = source
      .fetchBlocks({ firstBlock: 0, lastBlock: 2_000 }, BLOCKS_ONLY)
      [Symbol.asyncIterator]();
    for (let taken = 1; taken <= 150; taken += 1) {
      await reader.next();
      // Nothing more happens until the reader asks again: no request is in flight and none will be.
      await node.when(() => node.inFlight === 0);
      const ahead = served - taken;
      // The very first requests are sent before any size is known.
      if (taken > 100) expect(ahead * kilobytes * 1_024).toBeLessThan(budgetBytes + 500_000);
    }
    await reader.return?.();
  });

  it('lets a body wait on its socket when it does not fit the budget, and still delivers everything', async () => {
    const chain = smallChain({
      head: 60,
      extraData: (number) => `0x${'ab'.repeat(number > 20 ? 500_000 : 10)}`,
    });
    const node = await use.node(serveChain(chain));
    const { source } = use.source([testUpstream(node.url, { maxInFlight: 3 })], {
      maxInFlightBytes: () => 1_500_000,
    });
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 60 }, ALL));
    expect(blocks.filter(isFetched)).toHaveLength(61);
  });

  it('ends with the reason of the signal, promptly, and lets go of its connections', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (request) => request.calls.some((call) => Number(call.params[0]) >= 50);
    const { source } = use.source([testUpstream(node.url)]);
    const controller = new AbortController();
    const reason = new Error('enough');
    const seen: number[] = [];
    const reading = (async () => {
      for await (const block of source.fetchBlocks(
        { firstBlock: 0, lastBlock: 900 },
        BLOCKS_ONLY,
        controller.signal,
      )) {
        seen.push(block.number);
      }
    })();
    await node.when(() => node.requests.length > 3);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await node.when(() => node.inFlight === 0);
    expect(seen.every((number, index) => number === index)).toBe(true);
  });

  it('throws at once when the signal was aborted before', async () => {
    const node = await use.node(serveChain(smallChain()));
    const { source } = use.source([testUpstream(node.url)]);
    const reason = new Error('never mind');
    const reading = collect(
      source.fetchBlocks({ firstBlock: 0, lastBlock: 9 }, ALL, AbortSignal.abort(reason)),
    );
    await expect(reading).rejects.toBe(reason);
    expect(node.requests).toHaveLength(0);
  });

  it('ends every open request when the reader leaves in the middle', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (request) => request.calls.some((call) => Number(call.params[0]) >= 20);
    const { source } = use.source([testUpstream(node.url)]);
    for await (const block of source.fetchBlocks({ firstBlock: 0, lastBlock: 900 }, BLOCKS_ONLY)) {
      if (block.number === 10) break;
    }
    await node.when(() => node.inFlight === 0);
  });

  it('keeps to the requests a second that the operator gave, counting every call of a batch', async () => {
    const node = await use.node(serveChain(smallChain()));
    const context = testContext();
    const before = context.clock.now();
    const { source } = use.source([testUpstream(node.url, { requestsPerSecond: 25 })], { context });
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 299 }, BLOCKS_ONLY));
    expect(blocks.filter(isFetched)).toHaveLength(300);
    expect(Math.max(...node.requests.map((request) => request.calls.length))).toBeLessThanOrEqual(25);
    expect(context.clock.now() - before).toBeGreaterThan(11_000);
  });

  it('keeps fetching at that rate while the clock is set back an hour, and when it is set right again', async () => {
    const node = await use.node(serveChain(smallChain()));
    const context = testContext();
    const { source } = use.source([testUpstream(node.url, { requestsPerSecond: 25 })], { context });
    const seen: number[] = [];
    for await (const block of source.fetchBlocks({ firstBlock: 0, lastBlock: 299 }, BLOCKS_ONLY)) {
      if (isFetched(block)) seen.push(block.number);
      if (block.number === 60) context.clock.setBack(3_600_000);
      if (block.number === 200) context.clock.setBack(-3_600_000);
    }
    expect(seen).toHaveLength(300);
    expect(context.clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(60_000);
  });

  it('reaches 240 tiny blocks a second and more from a node that takes half a second a request', async () => {
    // Counted in rounds of the node rather than in time: a machine under load must not fail this.
    const node = await use.node(serveChain(smallChain({ head: 2_000 })));
    let round = 0;
    let waiting: (() => void)[] = [];
    let timer: NodeJS.Immediate | null = null;
    const tick = (): void => {
      // A round ends when no new request has come for a while: all that wait are answered together.
      let quiet = 0;
      let known = -1;
      const look = (): void => {
        quiet = waiting.length === known ? quiet + 1 : 0;
        known = waiting.length;
        if (quiet < 200) {
          timer = setImmediate(look);
          return;
        }
        timer = null;
        round += 1;
        const all = waiting;
        waiting = [];
        for (const go of all) go();
      };
      timer ??= setImmediate(look);
    };
    node.intercept = async () => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (timer === null) tick();
      });
      return false;
    };
    const { source } = use.source([testUpstream(node.url)], { context: testContext(systemClock) });
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 1_023 }, ALL));
    expect(blocks.filter(isFetched)).toHaveLength(1_024);
    expect(1_024 / (round * 0.5)).toBeGreaterThan(240);
  });
});
