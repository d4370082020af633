import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../../test/anvil.js';
import { makeLivelyChain } from '../../test/lively-chain.js';
import { RpcError } from '../../test/scripted-node.js';
import { collect, isFetched, testUpstream, useNodes } from '../../test/test-source.js';
import type { FetchedBlock } from './block-source.js';

const ALL = { receipts: true, traces: true };
const ANVIL = { chainId: 31_337 };

type Json = Record<string, unknown>;

describe('against a real Anvil', () => {
  const use = useNodes();
  let anvil: Anvil;
  let head: number;

  beforeAll(async () => {
    anvil = await startAnvil(['--slots-in-an-epoch', '1']);
    await makeLivelyChain(anvil);
    await anvil.rpc('anvil_mine', ['0x40']);
    head = Number(await anvil.rpc<string>('eth_blockNumber'));
  });

  afterAll(() => anvil?.stop());

  it('fetches every block with the receipts and traces that Anvil gives by itself', async () => {
    const { source } = use.source([testUpstream(anvil.url)], { changes: ANVIL });
    await source.probe(ALL);
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: head }, ALL));
    expect(blocks).toHaveLength(head + 1);
    let transactions = 0;
    let previous: unknown;
    for (const block of blocks) {
      if (!isFetched(block)) throw block.error;
      const number = `0x${block.number.toString(16)}`;
      const own = block.block as Json & { transactions: Json[] };
      expect(own).toEqual(await anvil.rpc('eth_getBlockByNumber', [number, true]));
      expect(block.receipts).toEqual(await anvil.rpc('eth_getBlockReceipts', [number]));
      expect(block.traces).toEqual(await anvil.rpc('trace_block', [number]));
      if (block.number > 0) expect(own.parentHash).toBe(previous);
      previous = own.hash;
      transactions += own.transactions.length;
    }
    expect(transactions).toBe(18);
    expect(source.status()[0]).toMatchObject({
      head,
      errors: 0,
      capabilities: { receipts: 'eth_getBlockReceipts by hash', traces: 'trace_block', finalizedTag: true },
    });
  });

  it('knows its head and what is final', async () => {
    const { source } = use.source([testUpstream(anvil.url)], { changes: ANVIL });
    const block = await anvil.rpc<Json>('eth_getBlockByNumber', ['latest', false]);
    expect(await source.head()).toEqual({
      number: head,
      hash: block.hash,
      parentHash: block.parentHash,
      finalized: head - 2,
      finalizedHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      upstream: 'main',
    });
    expect(await source.blockHash(head)).toBe(block.hash);
    expect(await source.blockHash(head + 1)).toBeNull();
  });

  it('goes down to callTracer and single receipts where there is nothing better, to the same data', async () => {
    const missing = ['trace_block', 'eth_getBlockReceipts'];
    const poor = await use.node(() => null);
    poor.intercept = async (request, response) => {
      const results = await Promise.all(
        request.calls.map(async (call) => {
          const base = { jsonrpc: '2.0', id: call.id };
          if (missing.includes(call.method)) {
            const { code, message } = new RpcError(-32601, 'Method not found');
            return { ...base, error: { code, message } };
          }
          return { ...base, result: await anvil.rpc(call.method, call.params) };
        }),
      );
      response.end(JSON.stringify(request.batch ? results : results[0]));
      return true;
    };
    const rich = use.source([testUpstream(anvil.url)], { changes: ANVIL }).source;
    const { source } = use.source([testUpstream(poor.url)], { changes: ANVIL });
    await source.probe(ALL);
    const expected = (await collect(
      rich.fetchBlocks({ firstBlock: 0, lastBlock: head }, ALL),
    )) as FetchedBlock[];
    const blocks = (await collect(
      source.fetchBlocks({ firstBlock: 0, lastBlock: head }, ALL),
    )) as FetchedBlock[];
    expect(source.status()[0]?.capabilities).toMatchObject({
      receipts: 'eth_getTransactionReceipt',
      traces: 'debug_traceBlockByHash with callTracer',
    });
    const where = (block: FetchedBlock): unknown =>
      (block.traces as Json[])
        .filter((trace) => (trace.action as Json).to !== '0x0000000000000000000000000000000000000004')
        .map((trace) => [trace.transactionHash, trace.type, trace.error, (trace.action as Json).from]);
    for (const [number, block] of blocks.entries()) {
      expect(block.block).toEqual(expected[number]?.block);
      expect(block.receipts).toEqual(expected[number]?.receipts);
      expect(where(block)).toEqual(where(expected[number] as FetchedBlock));
    }
  });

  it('refuses it where another chain is expected', async () => {
    const { source } = use.source([testUpstream(anvil.url)]);
    await expect(source.probe(ALL)).rejects.toMatchObject({
      code: 'NODE_WRONG_CHAIN',
      data: { expected: 1, got: 31_337 },
    });
  });
});
