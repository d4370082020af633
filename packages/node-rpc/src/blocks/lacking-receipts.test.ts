import type { Network } from '@packhouse/networks';
import { describe, expect, it } from 'vitest';
import type { Handler, SeenCall } from '../../test/scripted-node.js';
import { serveChain, smallChain, toReceipts } from '../../test/small-chain.js';
import { collect, isFetched, testUpstream, useNodes } from '../../test/test-source.js';

const REQUEST = { receipts: true, traces: false };

/** A node whose block 7 uses this gas of 10, and has a receipt for the first of its two transactions only. */
function serve(gasUsed: string, without: string[] = []): Handler {
  const chain = smallChain({ transactions: () => 2, without: new Set(without) });
  return (call: SeenCall) => {
    if (call.method === 'eth_getBlockReceipts' && without.length === 0)
      return toReceipts(chain, 7).slice(0, 1);
    if (call.method === 'eth_getTransactionReceipt') {
      return (
        toReceipts(chain, 7)
          .slice(0, 1)
          .find((receipt) => receipt.transactionHash === call.params[0]) ?? null
      );
    }
    const answer = serveChain(chain)(call);
    return call.method === 'eth_getBlockByNumber'
      ? { ...(answer as object), gasUsed, gasLimit: '0xa' }
      : answer;
  };
}

describe('fewer receipts than transactions', () => {
  const use = useNodes();
  const fetch = async (handler: Handler, proofs: object) => {
    const node = await use.node(handler);
    const changes = { proofs: proofs as Network['proofs'] };
    const { source } = use.source([testUpstream(node.url)], { changes });
    const [block] = await collect(source.fetchBlocks({ firstBlock: 7, lastBlock: 7 }, REQUEST));
    return block!;
  };

  it.each([
    ['of the block at once', []],
    ['one by one', ['eth_getBlockReceipts']],
  ])('are left to the proofs where the block exceeds its gas on Cronos: %s', async (_, without) => {
    for (const proofs of [{ chainId: 25 }, { rules: 'cronos' }]) {
      const block = await fetch(serve('0xb', without), proofs);
      expect(isFetched(block) && block.receipts).toHaveLength(1);
    }
  });

  it.each([
    ['a block of Cronos that does not', '0xa', { chainId: 25 }],
    ['another chain', '0xb', { chainId: 1 }],
    ['a chain that is not named', '0xb', {}],
  ])('are missing in %s', async (_, gasUsed, proofs) => {
    for (const without of [[], ['eth_getBlockReceipts']]) {
      const block = await fetch(serve(gasUsed, without), proofs);
      expect(isFetched(block) ? block : block.error).toMatchObject({ code: 'NODE_ANSWER_MISSING' });
    }
  });
});
