import { type ErrorCode, isPackhouseError } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { RpcError } from '../../test/scripted-node.js';
import { serveChain, smallChain } from '../../test/small-chain.js';
import { collect, testUpstream, useNodes } from '../../test/test-source.js';
import type { FailedBlock } from './block-source.js';

const BLOCKS_ONLY = { receipts: false, traces: false };

const getCode = (error: Error): ErrorCode | null => (isPackhouseError(error) ? error.code : null);

describe('the fault of a block that no upstream gives', () => {
  const use = useNodes();

  it.each([
    ['null', () => null, 'NODE_ANSWER_MISSING'],
    [
      'an error',
      () => {
        throw new RpcError(-32_000, 'header not found');
      },
      'NODE_ERROR',
    ],
  ])('is a false answer, not that another upstream answered %s', async (_, lacks, cause) => {
    const chain = smallChain();
    const liar = await use.node((call) => ({ ...(serveChain(chain)(call) as object), number: '0x1' }));
    const behind = await use.node(lacks);
    for (const [first, second] of [
      [liar, behind],
      [behind, liar],
    ] as const) {
      const { source } = use.source([
        testUpstream(first.url, { name: first === liar ? 'liar' : 'behind', priority: 1 }),
        testUpstream(second.url, { name: second === liar ? 'liar' : 'behind', priority: 2 }),
      ]);
      const [failed] = await collect(source.fetchBlocks({ firstBlock: 7, lastBlock: 7 }, BLOCKS_ONLY));
      const { error, faults } = failed as FailedBlock;
      expect(error).toMatchObject({ code: 'NODE_ANSWER_INVALID', data: { upstream: 'liar' } });
      expect(faults!.map((fault) => getCode(fault.error)).sort()).toEqual(['NODE_ANSWER_INVALID', cause]);
      await expect(source.fetchBlock(7, BLOCKS_ONLY)).rejects.toMatchObject({ code: 'NODE_ANSWER_INVALID' });
    }
  });
});
