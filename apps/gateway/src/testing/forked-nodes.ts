import { expect, vi } from 'vitest';
import { type ChainNode, startChainNode } from './chain-node.js';
import type { GatewayStore } from './gateway-stores.js';
import { createMemoryTips } from './memory-tips.js';
import { startTwoGateways, type TwoGateways } from './two-gateways.js';

const WAIT = { timeout: 60_000 };

/** Two nodes, and two gateways of which each prefers another one. */
export interface ForkedNodes {
  nodes: [ChainNode, ChainNode];
  both: TwoGateways;
  /** Sets the heads of the nodes, and waits until both gateways know them. */
  setHeads(one: number, two?: number): Promise<void>;
  /** Sets the nodes back as `fields` say, on a chain that was reset so long ago that nobody holds to what was told of it. */
  reset(fields: Partial<ChainNode>): Promise<void>;
  close(): Promise<void>;
}

/** Starts them; `more`: lines of the network in the networks file. */
export async function startForkedNodes(store: GatewayStore, more = ''): Promise<ForkedNodes> {
  const tips = createMemoryTips();
  const nodes: [ChainNode, ChainNode] = [await startChainNode(), await startChainNode()];
  const [one, two] = nodes.map(({ node }) => node.url);
  const text = (priorities: [number, number]): string => `networks:
  - id: main
    family: evm
    chainId: 1
    pollIntervalMs: 100
${more}    upstreams:
      - {name: one, url: '${one}', priority: ${priorities[0]}}
      - {name: two, url: '${two}', priority: ${priorities[1]}}`;
  const both = await startTwoGateways([text([1, 2]), text([2, 1])], store, { tips });
  // Both are in use when their clock is set on: the nodes of an idle network are asked rarely.
  for (const gateway of [0, 1] as const) await both.call(gateway, 'eth_newFilter', [{}]);
  const setHeads = async (first: number, second = first): Promise<void> => {
    nodes[0].head = first;
    nodes[1].head = second;
    await vi.waitFor(async () => {
      for (const gateway of [0, 1] as const)
        expect(await both.heads(gateway)).toEqual({ one: first, two: second });
    }, WAIT);
  };
  return {
    nodes,
    both,
    setHeads,
    async reset(fields) {
      for (const node of nodes) Object.assign(node, { forks: [], instead: undefined, ...fields });
      await setHeads(30);
      both.at.time.offset += 31_000;
      tips.clear();
    },
    async close() {
      await both.close();
      for (const { node } of nodes) await node.close();
    },
  };
}
