import { describe, expect, it } from 'vitest';
import { RpcError } from '../../test/scripted-node.js';
import { serveChain, smallChain } from '../../test/small-chain.js';
import { testContext, testUpstream, useNodes } from '../../test/test-source.js';

const ALL = { receipts: true, traces: true };

describe('probe', () => {
  const use = useNodes();

  it('learns what an upstream can do from a recent block', async () => {
    const node = await use.node(serveChain(smallChain({ transactions: () => 2 })));
    const { source } = use.source([testUpstream(node.url)]);
    expect(source.status()[0]).toMatchObject({ head: null, capabilities: { receipts: null, traces: null } });
    await source.probe(ALL);
    expect(source.status()[0]).toMatchObject({
      name: 'main',
      client: 'SmallChain/v1.0.0',
      healthy: true,
      head: 999,
      errors: 0,
      capabilities: {
        receipts: 'eth_getBlockReceipts by hash',
        traces: 'trace_block',
        finalizedTag: true,
      },
    });
  });

  it('refuses a node of another chain, and names it, what it serves and what was expected', async () => {
    const node = await use.node(serveChain(smallChain({ chainId: 137 })));
    const { source } = use.source([testUpstream(`${node.url}/v3/0123456789abcdef`)]);
    const probing = source.probe(ALL);
    await expect(probing).rejects.toMatchObject({
      code: 'NODE_WRONG_CHAIN',
      data: { expected: 1, got: 137 },
    });
    await expect(probing).rejects.toThrow(
      /^Node main \(http:\/\/127\.0\.0\.1:\d+\/\*\*\*\) serves chain 137 and not 1/,
    );
  });

  it('goes on without the one that serves another chain where there are others', async () => {
    const wrong = await use.node(serveChain(smallChain({ chainId: 137 })));
    const right = await use.node(serveChain(smallChain()));
    const { context, source } = use.source(
      [testUpstream(wrong.url, { name: 'wrong' }), testUpstream(right.url, { name: 'right', priority: 9 })],
      { context: testContext() },
    );
    await source.probe(ALL);
    expect(source.status().map((status) => status.healthy)).toEqual([false, true]);
    wrong.requests.length = 0;
    expect((await source.fetchBlock(7, ALL)).upstream).toBe('right');
    expect((await source.head()).upstream).toBe('right');
    expect(wrong.requests).toHaveLength(0);
    expect((context as ReturnType<typeof testContext>).lines.join('')).toContain('serves chain 137');
  });

  it('says that nothing can be reached, and why, in plain words', async () => {
    const node = await use.node(serveChain(smallChain()));
    await node.close();
    const { source } = use.source([testUpstream(node.url)]);
    await expect(source.probe(ALL)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    await expect(source.probe(ALL)).rejects.toThrow('connection refused');
    const { source: two } = use.source([
      testUpstream(node.url, { name: 'one' }),
      testUpstream('http://no-such-host.invalid:8545', { name: 'two' }),
    ]);
    await expect(two.probe(ALL)).rejects.toThrow(
      /^None of the 2 upstreams of testnet can be used: Node one .* Node two .*/,
    );
  });

  it('quotes the page of what answers with HTML', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (_, response) => {
      response.end('<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head></html>');
      return true;
    };
    const { source } = use.source([testUpstream(node.url)]);
    await expect(source.probe(ALL)).rejects.toMatchObject({ code: 'NODE_NOT_JSON_RPC' });
    await expect(source.probe(ALL)).rejects.toThrow('answered with HTML ("<!DOCTYPE html>');
  });

  it('names the credentials as the trouble, without showing them', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = (request, response) => {
      response
        .writeHead(401)
        .end(`invalid key ${request.url.slice(4)} / ${String(request.headers['x-api-key'])}`);
      return true;
    };
    const { source } = use.source([
      testUpstream(`${node.url}/v3/0123456789abcdef`, { headers: { 'X-Api-Key': 'topsecretheader' } }),
    ]);
    const error = (await source.probe(ALL).catch((caught: unknown) => caught)) as Error;
    expect(error).toMatchObject({ code: 'NODE_UNAUTHORIZED' });
    expect(error.message).toContain('refused the credentials with HTTP 401 ("invalid key *** / ***")');
    expect(error.message).not.toMatch(/0123456789abcdef|topsecretheader/);
  });

  it('wants to hear of a missing method at once, but only where it is needed', async () => {
    const without = new Set(['trace_block', 'debug_traceBlockByHash']);
    const node = await use.node(serveChain(smallChain({ transactions: () => 1, without })));
    const { source } = use.source([testUpstream(node.url)]);
    await expect(source.probe(ALL)).rejects.toMatchObject({ code: 'NODE_METHOD_MISSING' });
    await expect(source.probe(ALL)).rejects.toThrow('offers no method that gives traces');
    await source.probe({ receipts: true, traces: false });
    without.clear();
    await source.probe(ALL);
  });

  it.each([
    [-32000, 'missing trie node 1234 (path ) state is not available'],
    [-32000, 'required historical state unavailable (reexec=128)'],
    [-32603, 'execution timeout'],
  ])(
    'takes error %d "%s" for a block that cannot be traced, not for a missing method',
    async (code, message) => {
      const node = await use.node((call) => {
        if (call.method === 'trace_block') throw new RpcError(code, message);
        return serveChain(smallChain({ transactions: () => 1 }))(call);
      });
      const { source } = use.source([testUpstream(node.url)]);
      await source.probe(ALL);
      expect(node.requests.flatMap((request) => request.calls).map((call) => call.method)).not.toContain(
        'debug_traceBlockByHash',
      );
    },
  );

  it.each([
    [-32601, 'the method trace_block does not exist/is not available'],
    [-32600, 'method trace_block is not supported'],
    [-32000, 'Method trace_block not available on this plan'],
    [-32004, 'nope'],
  ])('takes error %d "%s" for a missing method', async (code, message) => {
    const node = await use.node((call) => {
      if (call.method === 'trace_block') throw new RpcError(code, message);
      if (call.method === 'debug_traceBlockByHash') return [{ result: [] }];
      return serveChain(smallChain({ transactions: () => 1 }))(call);
    });
    const { source } = use.source([testUpstream(node.url)]);
    await source.probe(ALL);
    expect(source.status()[0]?.capabilities.traces).toBe('debug_traceBlockByHash with flatCallTracer');
  });

  it('looks a few blocks back for one with transactions, and is content without', async () => {
    const node = await use.node(
      serveChain(smallChain({ transactions: (number) => (number === 993 ? 1 : 0) })),
    );
    const { source } = use.source([testUpstream(node.url)]);
    await source.probe(ALL);
    expect(source.status()[0]?.capabilities.receipts).toBe('eth_getBlockReceipts by hash');
    const empty = await use.node(serveChain(smallChain({ head: 0, finalized: 0 })));
    const young = use.source([testUpstream(empty.url)]).source;
    await young.probe(ALL);
    expect(young.status()[0]?.capabilities.receipts).toBeNull();
  });

  it('asks in three round trips whatever can be asked at once, of all upstreams side by side', async () => {
    const nodes = await Promise.all(
      [1, 2].map(() => use.node(serveChain(smallChain({ transactions: () => 1 })))),
    );
    // No request is answered before all of its round trip have arrived.
    const waiting: (() => void)[] = [];
    const rounds: string[][] = [];
    let round: string[] = [];
    const expected = [6, 2, 4];
    for (const node of nodes) {
      node.intercept = async (request) => {
        round.push(request.calls[0]?.method ?? '');
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (round.length < (expected[rounds.length] ?? 1)) return;
          rounds.push(round);
          round = [];
          for (const go of waiting.splice(0)) go();
        });
        return false;
      };
    }
    const { source } = use.source(nodes.map((node, i) => testUpstream(node.url, { name: `node-${i}` })));
    await source.probe(ALL);
    const each = ['eth_chainId', 'eth_getBlockByNumber', 'web3_clientVersion'];
    expect(rounds.map((methods) => methods.sort())).toEqual([
      [...each, ...each].sort(),
      ['eth_getBlockByNumber', 'eth_getBlockByNumber'],
      ['eth_getBlockReceipts', 'eth_getBlockReceipts', 'trace_block', 'trace_block'],
    ]);
  });

  it('notes what a node calls itself, short and without its credentials', async () => {
    const key = '0123456789abcdef';
    const chain = serveChain(smallChain());
    const node = await use.node((call) =>
      call.method === 'web3_clientVersion'
        ? `Geth/v1\n${key}\u0007\u00e9 ${'x'.repeat(10_000)}`
        : chain(call),
    );
    const { source } = use.source([testUpstream(`${node.url}/v3/${key}`)]);
    await source.probe(ALL);
    const { client } = source.status()[0] as { client: string };
    expect(client).toMatch(/^Geth\/v1 \*\*\* x+$/);
    expect(client.length).toBeLessThanOrEqual(128);
    expect(await source.fetchBlock(7, { receipts: false, traces: false })).toMatchObject({ client });
  });

  it('asks an upstream that was down for its chain id before it is used', async () => {
    const chain = smallChain();
    const right = await use.node(serveChain(smallChain()));
    const late = await use.node(serveChain(chain));
    late.intercept = (_, response) => {
      response.destroy();
      return true;
    };
    const context = testContext();
    const { source } = use.source(
      [
        testUpstream(late.url, { name: 'late', priority: 1 }),
        testUpstream(right.url, { name: 'right', priority: 2 }),
      ],
      { context },
    );
    await source.probe(ALL);
    chain.chainId = 137;
    late.intercept = null;
    late.requests.length = 0;
    context.clock.jump(60_000);
    expect((await source.fetchBlock(7, ALL)).upstream).toBe('right');
    expect(late.requests.flatMap((request) => request.calls.map((call) => call.method))).toEqual([
      'eth_chainId',
    ]);
    expect(source.status()[0]).toMatchObject({ name: 'late', healthy: false });
  });

  it('asks for the chain id again once a node that kept failing answers', async () => {
    const chain = smallChain();
    const node = await use.node(serveChain(chain));
    const context = testContext();
    const { source } = use.source([testUpstream(node.url)], { context });
    await source.probe(ALL);
    node.intercept = (_, response) => {
      response.destroy();
      return true;
    };
    await expect(source.fetchBlock(7, ALL)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    await expect(source.fetchBlock(7, ALL)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    expect(source.status()[0]?.healthy).toBe(false);
    node.intercept = null;
    context.clock.jump(60_000);
    node.requests.length = 0;
    await source.fetchBlock(7, ALL);
    expect(node.requests[0]?.calls[0]?.method).toBe('eth_chainId');
    expect(node.requests.filter((request) => request.calls[0]?.method === 'eth_chainId')).toHaveLength(1);
  });

  it('ends with the reason of the signal when aborted', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = () => true;
    const { source } = use.source([testUpstream(node.url)]);
    const controller = new AbortController();
    const probing = source.probe(ALL, controller.signal);
    probing.catch(() => undefined);
    await node.when(() => node.requests.length === 3);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(probing).rejects.toBe(reason);
    await node.when(() => node.inFlight === 0);
  });
});
