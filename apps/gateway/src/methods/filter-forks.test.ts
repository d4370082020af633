import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChainLog, type ChainNode, getHash, startChainNode } from '../testing/chain-node.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';
import { createMemoryTips } from '../testing/memory-tips.js';
import { startTwoGateways, type TwoGateways } from '../testing/two-gateways.js';

const changes = 'eth_getFilterChanges';
const WAIT = { timeout: 60_000 };

/** A client that does what it is told: its blocks must always be one branch without a gap. */
class FollowingClient {
  readonly blocks: { number: number; hash: string }[] = [];
  removed = 0;

  take(logs: readonly ChainLog[]): void {
    for (const { blockNumber, blockHash, removed } of logs) {
      const [number, last] = [Number(blockNumber), this.blocks.at(-1)];
      if (removed) {
        expect({ number, hash: blockHash }).toEqual(last);
        this.blocks.pop();
        this.removed += 1;
      } else {
        if (last !== undefined) expect(number).toBe(last.number + 1);
        this.blocks.push({ number, hash: blockHash });
      }
    }
    const branches = new Set(this.blocks.filter(({ number }) => number >= FORK).map(({ hash }) => hash[2]));
    expect(branches.size).toBeLessThanOrEqual(1);
  }
}

/** Where the branches of the nodes part. */
const FORK = 32;

describe.for(GATEWAY_STORES)('with filters in $name,', ({ able, open }) => {
  describe.skipIf(!able)('where two nodes are on different branches', () => {
    let store: GatewayStore;
    let nodes: [ChainNode, ChainNode];
    let both: TwoGateways;
    const tips = createMemoryTips();
    const poll = (gateway: 0 | 1, id: string): Promise<ChainLog[]> => both.call(gateway, changes, [id]);

    const setHeads = async (one: number, two: number): Promise<void> => {
      nodes[0].head = one;
      nodes[1].head = two;
      await vi.waitFor(async () => {
        for (const gateway of [0, 1] as const) expect(await both.heads(gateway)).toEqual({ one, two });
      }, WAIT);
    };

    beforeAll(async () => {
      store = await open();
      nodes = [await startChainNode(), await startChainNode()];
      const [one, two] = nodes.map(({ node }) => node.url);
      const text = (priorities: [number, number]): string => `networks:
  - id: main
    family: evm
    chainId: 1
    pollIntervalMs: 100
    upstreams:
      - {name: one, url: '${one}', priority: ${priorities[0]}}
      - {name: two, url: '${two}', priority: ${priorities[1]}}`;
      both = await startTwoGateways([text([1, 2]), text([2, 1])], store, { tips });
      // Both are in use when their clock is set on: the nodes of an idle network are asked rarely.
      for (const gateway of [0, 1] as const) await both.call(gateway, 'eth_newFilter', [{}]);
    }, 60_000);
    afterAll(async () => {
      await both?.close();
      for (const { node } of nodes ?? []) await node.close();
      await store?.close();
    });
    beforeEach(async () => {
      for (const node of nodes) Object.assign(node, { forks: [], instead: undefined });
      await setHeads(30, 30);
      // Each test begins on a chain that was reset so long ago that nobody holds to what was told of it.
      both.at.time.offset += 31_000;
      tips.clear();
      nodes[1].forks = [{ from: FORK, branch: 'b' }];
    });

    it('a filter follows one branch at a time, and tells of each change as a reorganisation', async () => {
      const id = await both.call<string>(0, 'eth_newFilter', [{}]);
      const client = new FollowingClient();
      let [one, two] = [30, 30];
      for (let round = 0; round < 24; round++) {
        // Now the one is ahead, now the other, now neither.
        one += [2, 1, 0, 2, 1, 3][round % 6] as number;
        two += [1, 2, 3, 1, 2, 0][round % 6] as number;
        await setHeads(one, two);
        for (const gateway of round % 2 === 0 ? ([0, 1] as const) : ([1, 0, 1] as const)) {
          client.take(await poll(gateway, id));
        }
      }
      expect(client.removed).toBeGreaterThan(10);
      expect(client.blocks.length).toBeGreaterThan(20);
      nodes[0].forks = [{ from: FORK, branch: 'b' }];
      const end = Math.max(one, two) + 3;
      await setHeads(end, end);
      await vi.waitFor(async () => {
        client.take(await poll(0, id));
        expect(client.blocks.at(-1)).toEqual({ number: end, hash: getHash(end, 'b') });
      }, WAIT);
      expect(client.blocks).toEqual(
        Array.from({ length: end - 30 }, (_, n) => ({
          number: 31 + n,
          hash: getHash(31 + n, 31 + n < FORK ? 'a' : 'b'),
        })),
      );
    });

    it('takes no range without logs for the truth, since the node may be on the other branch', async () => {
      const id = await both.call<string>(0, 'eth_newFilter', [{}]);
      await setHeads(430, 430);
      // Ranges are answered by the node on the other branch, which has no log of these blocks.
      nodes[0].instead = (method, first) =>
        method === 'eth_getLogs' && Object.hasOwn(first as object, 'fromBlock') ? 'reset' : undefined;
      nodes[1].instead = (method, first) =>
        method === 'eth_getLogs' && Object.hasOwn(first as object, 'fromBlock') ? { result: [] } : undefined;
      const numbers = async (): Promise<number[]> =>
        (await poll(0, id)).map(({ blockNumber, blockHash }) => {
          expect(blockHash[2]).toBe('a');
          return Number(blockNumber);
        });
      const blocks = (from: number, to: number): number[] =>
        Array.from({ length: to - from + 1 }, (_, n) => from + n);
      expect(await numbers()).toEqual(blocks(31, 286));
      expect(await numbers()).toEqual(blocks(287, 430));
    });
  });
});
