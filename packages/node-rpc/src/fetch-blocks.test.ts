import { afterEach, describe, expect, it } from 'vitest';
import { answer, type ScriptedNode, startScriptedNode } from '../test/scripted-node.js';
import { blockHashOf, type SmallChain, serveChain, smallChain } from '../test/small-chain.js';
import { collect, isFetched, testSource, testUpstream } from '../test/test-source.js';
import type { FailedBlock, FetchedBlock } from './block-source.js';

const ALL = { receipts: true, traces: true };
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function setUp(
  chain: SmallChain = smallChain(),
  options: Parameters<typeof testSource>[1] = {},
  upstream: Parameters<typeof testUpstream>[1] = {},
): Promise<{ node: ScriptedNode } & ReturnType<typeof testSource>> {
  const node = await startScriptedNode(serveChain(chain));
  closers.push(() => node.close());
  const made = testSource([testUpstream(node.url, upstream)], options);
  closers.push(() => made.source.close());
  return { node, ...made };
}

describe('fetchBlocks', () => {
  it('yields every block of the range in order, with receipts and traces in the shape of trace_block', async () => {
    const chain = smallChain({ transactions: (number) => number % 4 });
    const { source } = await setUp(chain);
    const blocks = await collect(source.fetchBlocks({ start: 100, end: 399 }, ALL));
    expect(blocks.map((block) => block.number)).toEqual(Array.from({ length: 300 }, (_, index) => 100 + index));
    for (const block of blocks) {
      if (!isFetched(block)) throw block.error;
      expect(block.upstream).toBe('main');
      expect((block.block as { hash: string }).hash).toBe(blockHashOf(block.number));
      expect(block.receipts).toHaveLength(block.number % 4);
      expect(block.traces).toHaveLength((block.number % 4) + 1);
      expect(block.bytes).toBeGreaterThan(0);
    }
  });
});

void answer;
void (null as FailedBlock | FetchedBlock | null);
