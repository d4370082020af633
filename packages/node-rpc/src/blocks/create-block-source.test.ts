import { describe, expect, it } from 'vitest';
import { answer, RpcError } from '../../test/scripted-node.js';
import { getBlockHash, serveChain, smallChain } from '../../test/small-chain.js';
import { testContext, testUpstream, useNodes } from '../../test/test-source.js';

const BLOCKS_ONLY = { receipts: false, traces: false };

describe('head', () => {
  const use = useNodes();

  it('is the highest of all upstreams; the one behind is no reorganisation', async () => {
    const behind = await use.node(serveChain(smallChain({ head: 990, finalized: 900 })));
    const ahead = await use.node(serveChain(smallChain({ head: 999, finalized: 905 })));
    const { source } = use.source([
      testUpstream(behind.url, { name: 'behind' }),
      testUpstream(ahead.url, { name: 'ahead', priority: 2 }),
    ]);
    expect(await source.head()).toEqual({
      number: 999,
      hash: getBlockHash(999),
      parentHash: getBlockHash(998),
      finalized: 905,
      finalizedHash: getBlockHash(905),
      upstream: 'ahead',
    });
    expect(source.status().map((status) => status.head)).toEqual([990, 999]);
    expect(ahead.requests.map((request) => request.calls.map((call) => call.params[0]))).toEqual([
      ['latest', 'finalized'],
      // The final block of the other node, to compare its hash.
      ['0x384'],
    ]);
  });

  it.each([
    ['the tag is unknown', smallChain({ head: 999 }), new RpcError(-32602, 'unknown tag'), 935],
    ['nothing is final yet', smallChain({ head: 999, finalized: null }), null, 935],
    ['the chain is younger than the depth', smallChain({ head: 10, finalized: null }), null, -1],
  ])('counts the depth where %s', async (_, chain, error, finalized) => {
    const node = await use.node((call) => {
      if (error !== null && call.params[0] === 'finalized') throw error;
      return serveChain(chain)(call);
    });
    const { source } = use.source([testUpstream(node.url)]);
    expect((await source.head()).finalized).toBe(finalized);
    await source.head();
    const tags = node.requests
      .flatMap((request) => request.calls)
      .filter((call) => call.params[0] === 'finalized');
    expect(tags).toHaveLength(error === null ? 2 : 1);
    expect(source.status()[0]?.capabilities.finalizedTag).toBe(error === null ? null : false);
  });

  it('does not ask for the tag where the network has none', async () => {
    const node = await use.node(serveChain(smallChain()));
    const changes = { finality: { tag: false, depth: 9 } };
    const { source } = use.source([testUpstream(node.url)], { changes });
    expect((await source.head()).finalized).toBe(990);
    expect(node.requests[0]?.calls).toHaveLength(1);
  });

  it('does not wait long for an upstream that hangs when another has answered', async () => {
    const hanging = await use.node(serveChain(smallChain()));
    hanging.intercept = () => true;
    const quick = await use.node(serveChain(smallChain()));
    const { source } = use.source([
      testUpstream(hanging.url, { name: 'hanging' }),
      testUpstream(quick.url, { name: 'quick' }),
    ]);
    expect((await source.head()).upstream).toBe('quick');
  });

  it('throws what went wrong when no upstream answers', async () => {
    const node = await use.node(serveChain(smallChain()));
    await node.close();
    const { source } = use.source([testUpstream(node.url)]);
    await expect(source.head()).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  });
});

describe('blockHash', () => {
  const use = useNodes();

  it('is the hash under a number, and null beyond the head', async () => {
    const node = await use.node(serveChain(smallChain()));
    const { source } = use.source([testUpstream(node.url)]);
    expect(await source.blockHash(17)).toBe(getBlockHash(17));
    expect(await source.blockHash(1_000)).toBeNull();
  });

  it('asks the next upstream when one is behind or broken', async () => {
    const behind = await use.node(serveChain(smallChain({ head: 10 })));
    const broken = await use.node(() => {
      throw new RpcError(-32000, 'boom');
    });
    const { source } = use.source([
      testUpstream(broken.url, { name: 'broken', priority: 1 }),
      testUpstream(behind.url, { name: 'behind', priority: 2 }),
      testUpstream((await use.node(serveChain(smallChain()))).url, { name: 'good', priority: 3 }),
    ]);
    expect(await source.blockHash(17)).toBe(getBlockHash(17));
    const { source: alone } = use.source([testUpstream(broken.url)]);
    await expect(alone.blockHash(17)).rejects.toMatchObject({ code: 'NODE_ERROR' });
  });
});

describe('a block source', () => {
  const use = useNodes();

  it('counts calls by outcome, latency, bytes and the limit in flight', async () => {
    const node = await use.node((call) => {
      if (Number(call.params[0]) === 8) throw new RpcError(-32000, 'boom');
      return serveChain(smallChain())(call);
    });
    const { context, source } = use.source([testUpstream(node.url)]);
    await source.fetchBlock(7, BLOCKS_ONLY);
    await source.fetchBlock(8, BLOCKS_ONLY).catch(() => undefined);
    const text = await context.metrics.render();
    const labels = 'network="testnet",upstream="main"';
    expect(text).toContain(
      `packhouse_upstream_requests_total{${labels},method="eth_getBlockByNumber",outcome="ok"} 1`,
    );
    expect(text).toContain(
      `packhouse_upstream_requests_total{${labels},method="eth_getBlockByNumber",outcome="NODE_ERROR"} 3`,
    );
    expect(text).toMatch(/packhouse_upstream_request_seconds_count\{[^}]*\} 4/);
    expect(text).toMatch(/packhouse_upstream_received_bytes_total\{[^}]*\} [1-9]/);
    expect(text).toMatch(/packhouse_upstream_in_flight_limit\{[^}]*\} [1-9]/);
    expect(source.status()[0]).toMatchObject({ requests: 4, errors: 3 });
  });

  it('sends the headers and the address of its upstream as they are', async () => {
    const node = await use.node(serveChain(smallChain()));
    const url = node.url.replace('http://', 'http://user:pa%20ss@');
    const { source } = use.source([testUpstream(`${url}/v3/key?x=1`, { headers: { 'X-Api-Key': 'abc' } })]);
    await source.blockHash(1);
    expect(node.requests[0]?.url).toBe('/v3/key?x=1');
    expect(node.requests[0]?.headers).toMatchObject({
      'x-api-key': 'abc',
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from('user:pa ss').toString('base64')}`,
      'accept-encoding': 'identity',
    });
  });

  it('keeps its connections alive between requests', async () => {
    const node = await use.node(serveChain(smallChain()));
    const { source } = use.source([testUpstream(node.url)]);
    for (let number = 0; number < 20; number += 1) await source.blockHash(number);
    // Two connections alternate: one is free only a moment after its answer was read.
    expect(node.sockets.size).toBeLessThanOrEqual(2);
  });

  it('lets go of everything when closed: calls end, iterations end, connections are gone', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = () => true;
    const { source } = use.source([testUpstream(node.url)]);
    const ends = [
      source.head(),
      source.blockHash(1),
      source.fetchBlock(1, BLOCKS_ONLY),
      source.fetchBlocks({ firstBlock: 0, lastBlock: 9 }, BLOCKS_ONLY)[Symbol.asyncIterator]().next(),
    ].map((promise) =>
      promise.then(
        () => 'done',
        (error: Error) => error.message,
      ),
    );
    await node.when(() => node.requests.length === 4);
    await source.close();
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['The nodes of testnet were closed.']));
    await node.when(() => node.sockets.size === 0);
    await expect(source.head()).rejects.toThrow('The nodes of testnet were closed.');
  });

  it('ends when the process drains', async () => {
    const node = await use.node(serveChain(smallChain()));
    node.intercept = () => true;
    const draining = new AbortController();
    const context = { ...testContext(), signal: draining.signal };
    const { source } = use.source([testUpstream(node.url)], { context });
    const head = source.head();
    head.catch(() => undefined);
    await node.when(() => node.requests.length === 1);
    draining.abort(new Error('shutting down'));
    await expect(head).rejects.toThrow('shutting down');
  });

  it('asks again where an answer was cut off, never came, or came from a broken connection', async () => {
    const node = await use.node(serveChain(smallChain()));
    const faults: ((response: Parameters<NonNullable<typeof node.intercept>>[1]) => void)[] = [
      (response) => response.destroy(),
      () => undefined,
      (response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('{"jsonrpc"');
        setImmediate(() => response.destroy());
      },
      (response) => {
        response.writeHead(200);
        response.write('{"jsonrpc":"2.0",');
      },
      (response) => response.end('{"jsonrpc":"2.0","id":'),
      (response) => response.end(''),
      (response) => response.end('{"jsonrpc":"2.0","id":987654,"result":null}'),
      (response) => response.writeHead(500).end('oops'),
      (response) => response.end(Buffer.from('{"jsonrpc":"2.0","id":1,"result":"\xff"}', 'latin1')),
    ];
    const codes = [
      'NODE_UNREACHABLE',
      'NODE_TIMEOUT',
      'NODE_UNREACHABLE',
      'NODE_TIMEOUT',
      'NODE_NOT_JSON_RPC',
      'NODE_NOT_JSON_RPC',
      'NODE_ANSWER_INVALID',
      'NODE_HTTP_ERROR',
      'NODE_NOT_JSON_RPC',
    ];
    const { context, source } = use.source([testUpstream(node.url)], { timeoutMs: 100 });
    for (const [index, fault] of faults.entries()) {
      let first = true;
      node.intercept = (request, response) => {
        if (!first) answer(request, response, node.handler);
        else fault(response);
        first = false;
        return true;
      };
      expect((await source.fetchBlock(index, BLOCKS_ONLY)).number).toBe(index);
    }
    const text = await context.metrics.render();
    for (const code of new Set(codes)) {
      const count = codes.filter((other) => other === code).length;
      expect(text).toContain(`outcome="${code}"} ${count}`);
    }
  });
});

describe('a limit of calls', () => {
  const use = useNodes();

  it('is never exceeded, and what it cut off is said', async () => {
    const node = await use.node(serveChain(smallChain({ head: 999 })));
    const { source } = use.source([testUpstream(node.url)], { maxCalls: 2 });
    const fetch = (number: number) => source.fetchBlock(number, BLOCKS_ONLY);
    const blocks = await Promise.allSettled([900, 901, 902].map(fetch));
    expect(node.requests.flatMap((request) => request.calls)).toHaveLength(2);
    const [first] = blocks.flatMap((block) => (block.status === 'fulfilled' ? [block.value] : []));
    expect(first?.answered).toEqual([{ method: 'eth_getBlockByNumber', calls: 1, bytes: first?.bytes }]);
    const refused = blocks.flatMap((block) => (block.status === 'rejected' ? [block.reason] : []));
    expect(refused).toMatchObject([{ code: 'CALLS_SPENT' }]);
    await expect(source.head()).rejects.toMatchObject({ code: 'CALLS_SPENT' });
  });
});
