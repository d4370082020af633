import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChainLog, getHash } from '../testing/chain-node.js';
import { type ForkedNodes, startForkedNodes } from '../testing/forked-nodes.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';

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
    let forked: ForkedNodes;
    let nodes: ForkedNodes['nodes'];
    let both: ForkedNodes['both'];
    let setHeads: ForkedNodes['setHeads'];
    const poll = (gateway: 0 | 1, id: string): Promise<ChainLog[]> => both.call(gateway, changes, [id]);

    beforeAll(async () => {
      store = await open();
      forked = await startForkedNodes(store);
      ({ nodes, both, setHeads } = forked);
    }, 60_000);
    afterAll(async () => {
      await forked?.close();
      await store?.close();
    });
    beforeEach(async () => {
      await forked.reset({});
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
