import type { BlockRange } from '@packhouse/chain';
import { ALL, type Recorded } from '@packhouse/recordings';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { envelopes, type Handler, RpcError, type ScriptedNode } from '../../test/scripted-node.js';
import { serveChain, smallChain, toReceipts, toTraces } from '../../test/small-chain.js';
import { collect, isFetched, testUpstream, useNodes } from '../../test/test-source.js';
import type { FailedBlock, FetchedBlock } from './block-source.js';

const ALL_PARTS = { receipts: true, traces: true };

function serveRecorded(rows: readonly Recorded[]): Handler {
  return ({ method, params: [key] }) => {
    if (method === 'eth_chainId') return '0x1';
    const row = rows.find(({ block, number }) => block.hash === key || number === Number(key));
    if (row === undefined) return null;
    if (method === 'eth_getBlockByNumber') return row.block;
    if (method === 'eth_getBlockReceipts') return row.receipts ?? [];
    if (method === 'trace_block') return row.traces ?? [];
    throw new RpcError(-32601, 'Method not found');
  };
}

/** What a caller sees of a block, beside its bytes. */
function seen(block: FetchedBlock | FailedBlock): unknown {
  if (!isFetched(block)) return block.error;
  const { number, upstream, client, block: value, receipts, traces } = block;
  const answered = block.answered.map(({ method, calls }) => `${method} ${calls}`).sort();
  return { number, upstream, client, value, receipts, traces, answered };
}

describe('blocks whose answers are not parsed', () => {
  const use = useNodes();
  /** The same node, whose answers have a letter that is not ASCII: they are always parsed. */
  const withLetter = async (handler: Handler): Promise<ScriptedNode> => {
    const node = await use.node(handler);
    node.intercept = (request, response) => {
      const all = envelopes(request, handler).map((each) => ({ ...each, by: 'é' }));
      response.end(JSON.stringify(request.batch ? all : all[0]));
      return true;
    };
    return node;
  };
  const expectSame = async (handler: Handler, range: BlockRange): Promise<FetchedBlock[]> => {
    const [plain, other] = [await use.node(handler), await withLetter(handler)];
    const fetched = await collect(use.source([testUpstream(plain.url)]).source.fetchBlocks(range, ALL_PARTS));
    const parsed = await collect(use.source([testUpstream(other.url)]).source.fetchBlocks(range, ALL_PARTS));
    expect(fetched.map(seen)).toEqual(parsed.map(seen));
    for (const block of parsed) expect(block).toMatchObject({ raw: undefined });
    return fetched.filter(isFetched);
  };
  afterEach(() => vi.restoreAllMocks());

  it('have the same parts as parsed ones, and the bytes of each', async () => {
    const chain = smallChain({
      transactions: (number) => number % 3,
      extraData: () => `0x${'00'.repeat(2_000)}`,
    });
    const blocks = await expectSame(serveChain(chain), { firstBlock: 10, lastBlock: 60 });
    const withBytes = blocks.filter(({ raw }) => raw !== undefined);
    expect(withBytes.length).toBeGreaterThan(20);
    for (const { block, number, raw } of withBytes) {
      expect(JSON.parse(String(raw?.transactions))).toEqual(
        (block as { transactions: unknown }).transactions,
      );
      expect(raw?.header).toEqual({ ...(block as object), transactions: [] });
      expect(JSON.parse(String(raw?.receipts))).toEqual(toReceipts(chain, number));
      expect(JSON.parse(String(raw?.traces))).toEqual(toTraces(chain, number));
    }
  });

  it.each(ALL)('are the same as parsed ones of $title', async (source) => {
    const busy = source.blocks('row').slice(0, 2);
    const forks = [12_972_264, 15_537_394].map((number) => source.block('forks', number));
    const early = source.blocks('early').slice(1, 41);
    for (const rows of [busy, early, ...forks.map((row) => [row])]) {
      const numbers = rows.map(({ number }) => number);
      const blocks = await expectSame(serveRecorded(rows), {
        firstBlock: Math.min(...numbers),
        lastBlock: Math.max(...numbers),
      });
      expect(blocks).toHaveLength(rows.length);
      expect(blocks.some(({ raw }) => raw !== undefined)).toBe(rows !== early);
    }
  });

  it('are parsed in no part but the header, and the first receipt and trace', async () => {
    const chain = smallChain({ transactions: () => 200 });
    const node = await use.node(serveChain(chain));
    const { source } = use.source([testUpstream(node.url)]);
    const parse = vi.spyOn(JSON, 'parse');
    const blocks = (await collect(source.fetchBlocks({ firstBlock: 1, lastBlock: 20 }, ALL_PARTS))).filter(
      isFetched,
    );
    const lengths = parse.mock.calls.map(([text]) => text.length);
    expect(blocks.every(({ raw }) => raw !== undefined)).toBe(true);
    expect(Math.max(...lengths)).toBeLessThan(4_000);
    expect(Math.min(...blocks.map(({ bytes }) => bytes))).toBeGreaterThan(100_000);
    // What is read is parsed, once.
    const [{ block, receipts, traces }] = blocks as [FetchedBlock];
    expect([block, receipts, traces]).toEqual([blocks[0]?.block, blocks[0]?.receipts, blocks[0]?.traces]);
    expect(parse.mock.calls.length - lengths.length).toBe(3);
  });

  it('have no bytes, and all parts, if one part came in another shape', async () => {
    const chain = smallChain({
      transactions: () => 20,
      without: new Set(['trace_block']),
      difficulty: '0x0',
    });
    const handler: Handler = (call) => {
      if (call.method !== 'debug_traceBlockByHash') return serveChain(chain)(call);
      return toReceipts(chain, 7).map(({ transactionHash }) => ({
        txHash: transactionHash,
        result: [{ type: 'call' }],
      }));
    };
    const [block] = await expectSame(handler, { firstBlock: 7, lastBlock: 7 });
    expect(block).toMatchObject({ raw: undefined });
    expect(block?.traces).toHaveLength(20);
  });

  /** Transaction 5 of every block is no JSON. */
  const malformed = async (without: string[]) => {
    const node = await use.node(
      serveChain(smallChain({ transactions: () => 50, without: new Set(without) })),
    );
    node.intercept = (request, response) => {
      const text = JSON.stringify(envelopes(request, node.handler)[0]);
      response.end(text.replace('"transactionIndex":"0x5"', '"transactionIndex":0x5'));
      return true;
    };
    return use.source([testUpstream(node.url)]).source;
  };

  it('say that they are malformed when they are read', async () => {
    const source = await malformed([]);
    const block = await source.fetchBlock(7, { receipts: false, traces: false });
    for (let times = 0; times < 2; times++)
      expect(() => block.block).toThrow('answered with JSON that is cut off or malformed');
    expect(block.raw?.header).toMatchObject({ number: '0x7', transactions: [] });
  });

  it.each([
    { receipts: true, traces: false },
    { receipts: false, traces: true },
  ])('are refused if they are malformed and their transactions are needed for %o', async (request) => {
    const source = await malformed(['eth_getBlockReceipts', 'trace_block']);
    await expect(source.fetchBlock(7, request)).rejects.toMatchObject({ code: 'NODE_NOT_JSON_RPC' });
  });
});
