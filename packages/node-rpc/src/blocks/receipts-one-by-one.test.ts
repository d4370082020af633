import { describe, expect, it } from 'vitest';
import { type Handler, RpcError } from '../../test/scripted-node.js';
import {
  getBlockHash,
  getTransactionHash,
  serveChain,
  smallChain,
  toReceipts,
} from '../../test/small-chain.js';
import { collect, isFetched, testUpstream, useNodes } from '../../test/test-source.js';

const REQUEST = { receipts: true, traces: false };
const RANGE = { firstBlock: 7, lastBlock: 9 };

const FAULTS: [string, () => unknown][] = [
  ['fails with an error that nobody knows', () => fail(-32_000, 'transaction and receipt count mismatch')],
  ['fails with an internal error', () => fail(-32_603, 'internal oddity')],
  ['is an empty list', () => []],
  ['is null', () => null],
  ['is no list', () => 'none'],
];

function fail(code: number, message: string): never {
  throw new RpcError(code, message);
}

describe('a lone node whose eth_getBlockReceipts', () => {
  const use = useNodes();

  /** A node that answers so for the receipts of block 8, of three transactions. */
  async function serve(answer: () => unknown, hasSingle = true) {
    const chain = smallChain({ transactions: () => 3 });
    const eight = getBlockHash(8);
    const handler: Handler = (call) => {
      const [key] = call.params;
      const { method } = call;
      if (method === 'eth_getBlockReceipts' && (key === eight || key === '0x8')) return answer();
      if (method !== 'eth_getTransactionReceipt' || !hasSingle) return serveChain(chain)(call);
      return toReceipts(chain, 8).find((receipt) => receipt.transactionHash === key) ?? null;
    };
    const node = await use.node(handler);
    const calls = (): string[] =>
      node.requests.flatMap((request) => request.calls.map(({ method, params }) => `${method} ${params[0]}`));
    return { calls, source: use.source([testUpstream(node.url)]).source };
  }

  it.each(FAULTS)(
    '%s is asked for them one by one after the second time, for that block',
    async (_, answer) => {
      const { calls, source } = await serve(answer);
      const blocks = await collect(source.fetchBlocks(RANGE, REQUEST));
      const hashes = blocks.map((block) =>
        isFetched(block)
          ? (block.receipts as { transactionHash: string }[]).map((receipt) => receipt.transactionHash)
          : block.error.message,
      );
      expect(hashes).toEqual([7, 8, 9].map((n) => [0, 1, 2].map((index) => getTransactionHash(n, index))));
      const single = calls().filter((call) => call.startsWith('eth_getTransactionReceipt'));
      expect(single).toEqual(
        [0, 1, 2].map((index) => `eth_getTransactionReceipt ${getTransactionHash(8, index)}`),
      );
    },
  );

  it.each(FAULTS)('%s keeps its fault where it has not the first of them alone', async (_, answer) => {
    const { calls, source } = await serve(answer, false);
    const [, eight] = await collect(source.fetchBlocks(RANGE, REQUEST));
    expect(isFetched(eight!) ? null : eight!.error).toMatchObject({
      code: expect.stringMatching(/^NODE_(ERROR|ANSWER_MISSING|ANSWER_INVALID)$/),
    });
    // The second try of three.
    expect(calls().filter((call) => call.startsWith('eth_getTransactionReceipt'))).toHaveLength(1);
  });

  it('asks for fewer requests is not asked more', async () => {
    let times = 0;
    const { calls, source } = await serve(() => {
      times += 1;
      return times < 4 ? fail(-32_005, 'rate limit exceeded') : [];
    });
    await collect(source.fetchBlocks(RANGE, REQUEST));
    const methods = calls().map((call) => call.split(' ')[0]);
    expect(methods.indexOf('eth_getTransactionReceipt')).toBeGreaterThan(
      methods.lastIndexOf('eth_getBlockReceipts'),
    );
    expect(times).toBe(5);
  });
});
