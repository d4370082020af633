import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChainLog, getHash, toLog } from '../testing/chain-node.js';
import { type ForkedNodes, startForkedNodes } from '../testing/forked-nodes.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';

const changes = 'eth_getFilterChanges';
const WAIT = { timeout: 60_000 };

/** Each log by the branch and the number of its block; removed ones with a minus. */
const told = (logs: ChainLog[]): string[] =>
  logs.map(
    ({ blockHash, blockNumber, removed }) => `${removed ? '-' : ''}${blockHash[2]}${Number(blockNumber)}`,
  );
const blocks = (from: number, to: number, branch = 'a'): string[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => `${branch}${from + n}`);
const undone = (from: number, to: number): string[] =>
  blocks(from, to)
    .reverse()
    .map((block) => `-${block}`);

describe.for(GATEWAY_STORES)('with filters in $name,', ({ able, open }) => {
  describe.skipIf(!able)('two gateways that prefer different nodes', () => {
    let store: GatewayStore;
    let forked: ForkedNodes;
    let nodes: ForkedNodes['nodes'];
    let both: ForkedNodes['both'];
    let setHeads: ForkedNodes['setHeads'];
    const call: ForkedNodes['both']['call'] = (...args) => both.call(...args);
    const poll = async (gateway: 0 | 1, id: string): Promise<string[]> =>
      told(await call<ChainLog[]>(gateway, changes, [id]));
    const newFilter = (): Promise<string> => call<string>(0, 'eth_newFilter', [{}]);

    beforeAll(async () => {
      store = await open();
      forked = await startForkedNodes(store, '    rpc: {maxLogs: 1200}\n');
      ({ nodes, both, setHeads } = forked);
    }, 60_000);
    afterAll(async () => {
      await forked?.close();
      await store?.close();
    });
    beforeEach(() => forked.reset({ alive: true, dataLength: 2, keepsDead: false, noise: false, final: 0 }));

    it('take a node that was left on a dead branch for no reorganisation', async () => {
      const id = await newFilter();
      const two = nodes[1];
      two.forks = [{ from: 32, branch: 'b' }];
      await setHeads(33, 33);
      expect(await poll(0, id)).toEqual(blocks(31, 33));
      // The same head as reported, but another branch.
      expect(await poll(1, id)).toEqual([]);
      await setHeads(36, 34);
      // The only node that answers: further than reported, but behind the one that does not answer.
      nodes[0].alive = false;
      for (const gateway of [0, 1] as const) {
        await expect(poll(gateway, id)).rejects.toThrow('block 36: the highest head known of them is 34');
      }
      nodes[0].alive = true;
      const seen: string[] = [];
      await vi.waitFor(async () => {
        seen.push(...(await poll(1, id)));
        expect(seen).toEqual(blocks(34, 36));
      }, WAIT);
      two.forks = [];
      await setHeads(37, 37);
      expect(await poll(1, id)).toEqual(['a37']);
    });

    it('give what a reorganisation undid once, among many who poll at once while nodes change over', async () => {
      const id = await newFilter();
      await setHeads(33);
      expect(await poll(1, id)).toEqual(blocks(31, 33));
      const all: string[] = [];
      const pollAll = async (): Promise<void> => {
        const polls = Array.from({ length: 8 }, (_, n) => poll(n % 2 ? 0 : 1, id));
        for (const changed of await Promise.all(polls)) all.push(...changed);
      };
      const before = pollAll();
      nodes[0].forks = [{ from: 32, branch: 'b' }];
      nodes[0].head = 35;
      const between = pollAll();
      nodes[1].forks = [{ from: 32, branch: 'b' }];
      nodes[1].head = 35;
      await Promise.all([before, between]);
      await vi.waitFor(async () => {
        await pollAll();
        expect([...all].sort()).toEqual([...undone(32, 33), ...blocks(32, 35, 'b')].sort());
      }, WAIT);
      await pollAll();
      expect(all).toHaveLength(6);
    });

    it('check the logs of every block of a long way, and give none that are of another branch', async () => {
      const id = await newFilter();
      await setHeads(330);
      for (const node of nodes) {
        node.instead = (method, first) => {
          const range = first as { fromBlock?: string; toBlock?: string };
          if (method !== 'eth_getLogs' || range.fromBlock === undefined) return undefined;
          const [from, to] = [Number(range.fromBlock), Number(range.toBlock)];
          const result = Array.from({ length: to - from + 1 }, (_, n) =>
            toLog(from + n, from + n === 60 ? 'f' : 'a'),
          );
          return { result };
        };
      }
      expect(await poll(0, id)).toEqual([]);
      for (const node of nodes) delete node.instead;
      expect(await poll(1, id)).toEqual(blocks(31, 330));
    });

    it('go over a very long way in several polls', async () => {
      const [id, hashes] = [await newFilter(), await call<string>(0, 'eth_newBlockFilter')];
      await setHeads(1_500);
      expect(await poll(0, id)).toEqual(blocks(31, 1_054));
      expect(await poll(1, id)).toEqual(blocks(1_055, 1_500));
      const told = [await call<string[]>(0, changes, [hashes]), await call<string[]>(1, changes, [hashes])];
      expect(told.map(({ length }) => length)).toEqual([1_024, 446]);
      expect(told.flat()).toEqual(Array.from({ length: 1_470 }, (_, n) => getHash(31 + n)));
    });

    it('give as many logs as an answer may hold, and the others by the next polls', async () => {
      const id = await newFilter();
      for (const node of nodes) {
        node.instead = (method, first) => {
          const range = first as { fromBlock?: string; toBlock?: string };
          if (method !== 'eth_getLogs' || range.fromBlock === undefined) return undefined;
          const [from, to] = [Number(range.fromBlock), Number(range.toBlock)];
          // A hundred logs in each block.
          return {
            result: Array.from({ length: (to - from + 1) * 100 }, (_, n) => ({
              ...toLog(from + Math.floor(n / 100)),
              logIndex: `0x${(n % 100).toString(16)}`,
            })),
          };
        };
      }
      await setHeads(60);
      const seen: string[] = [];
      for (let polls = 0; seen.at(-1) !== 'a60'; polls += 1) {
        expect(polls).toBeLessThan(10);
        seen.push(...(await poll(0, id)));
      }
      expect([...new Set(seen)]).toEqual(blocks(31, 60));
    });

    it('move over no logs that a node which is behind may have left out', async () => {
      const id = await newFilter();
      await setHeads(80, 60);
      nodes[0].instead = (method, first) =>
        method === 'eth_getLogs' && Object.hasOwn(first as object, 'fromBlock') ? 'reset' : undefined;
      for (const gateway of [0, 1] as const) {
        await expect(poll(gateway, id)).rejects.toThrow('the highest head known of them is 60');
      }
      await setHeads(80);
      expect(await poll(1, id)).toEqual(blocks(31, 80));
    });

    it('undo as much as is remembered, and say so where a reorganisation is deeper', async () => {
      const ids = [await newFilter(), await call<string>(0, 'eth_newBlockFilter')] as const;
      await setHeads(230);
      expect(await poll(0, ids[0])).toEqual(blocks(31, 230));
      expect(await call(0, changes, [ids[1]])).toHaveLength(200);
      for (const node of nodes) node.forks = [{ from: 103, branch: 'b' }];
      await setHeads(231);
      for (const [gateway, id] of [
        [0, ids[0]],
        [1, ids[0]],
        [1, ids[1]],
      ] as const) {
        await expect(poll(gateway, id)).rejects.toThrow(
          '-32000 A reorganisation removed blocks 103 to 230, and it began before block 103, the oldest that this filter remembers; create a new filter and read again from block 1, the first that is not final, with eth_getLogs.',
        );
      }
      // The branch that it knows comes back.
      for (const node of nodes) node.forks = [{ from: 104, branch: 'c' }];
      await setHeads(232);
      expect(await poll(1, ids[0])).toEqual([...undone(104, 230), ...blocks(104, 232, 'c')]);
      expect(await call(0, changes, [ids[1]])).toEqual(
        Array.from({ length: 129 }, (_, n) => getHash(104 + n, 'c')),
      );
    });

    it('say so where what was final is removed', async () => {
      const id = await newFilter();
      for (const node of nodes) node.final = 60;
      await setHeads(70);
      await vi.waitFor(async () => expect(await poll(0, id)).toEqual(blocks(31, 70)), WAIT);
      await setHeads(71);
      expect(await poll(0, id)).toEqual(['a71']);
      for (const node of nodes) node.forks = [{ from: 61, branch: 'b' }];
      await setHeads(72);
      expect(await poll(1, id)).toEqual([...undone(61, 71), ...blocks(61, 72, 'b')]);
      for (const node of nodes) node.forks = [{ from: 59, branch: 'c' }];
      await setHeads(73);
      await expect(poll(1, id)).rejects.toThrow(
        '-32000 A reorganisation removed blocks 60 to 72, and it began before block 60, the oldest that this filter remembers; create a new filter and read again from a block before 60 that you know to be unchanged, with eth_getLogs.',
      );
    });

    it('of a new filter find a branch that replaces the newest block, and say so of a longer one', async () => {
      const ids = [await newFilter(), await newFilter()] as const;
      for (const node of nodes) node.forks = [{ from: 30, branch: 'b' }];
      await setHeads(31);
      // Block a30 was there before the filter, so nobody was told of its logs.
      expect(await poll(0, ids[0])).toEqual(blocks(30, 31, 'b'));
      for (const node of nodes) node.forks = [{ from: 29, branch: 'c' }];
      await setHeads(32);
      await expect(poll(1, ids[1])).rejects.toThrow('-32000 A reorganisation removed blocks 29 to 30,');
    });

    it('undo what was given though no node keeps abandoned blocks', async () => {
      const id = await newFilter();
      for (const node of nodes) node.dataLength = 3_000;
      await setHeads(110);
      const given = await call<ChainLog[]>(0, changes, [id]);
      for (const node of nodes) node.forks = [{ from: 41, branch: 'b' }];
      await setHeads(111);
      const after = await call<ChainLog[]>(1, changes, [id]);
      expect(after.slice(0, 70)).toEqual(
        given
          .slice(10)
          .reverse()
          .map((log) => ({ ...log, removed: true })),
      );
      expect(told(after.slice(70))).toEqual(blocks(41, 111, 'b'));
    });

    it('ask for logs that are too many to keep where they are undone, and say so where no node has them', async () => {
      const id = await newFilter();
      for (const node of nodes) Object.assign(node, { dataLength: 5_000, noise: true });
      await setHeads(50);
      expect(await poll(0, id)).toEqual(blocks(31, 50));
      for (const node of nodes) node.forks = [{ from: 41, branch: 'b' }];
      nodes[0].keepsDead = true;
      await setHeads(51);
      for (const node of nodes) {
        node.instead = (_, first) =>
          (first as { blockHash?: string }).blockHash === getHash(41) ? 'reset' : undefined;
      }
      await expect(poll(0, id)).rejects.toThrow('-32002');
      // A node that knows the block without its logs.
      for (const node of nodes) {
        node.instead = (_, first) =>
          (first as { blockHash?: string }).blockHash === getHash(41) ? { result: [] } : undefined;
      }
      await expect(poll(0, id)).rejects.toThrow('the reported logs of blocks 41 to 41 are');
      for (const node of nodes) delete node.instead;
      expect(await poll(0, id)).toEqual([...undone(41, 50), ...blocks(41, 51, 'b')]);
      for (const node of nodes) Object.assign(node, { forks: [{ from: 41, branch: 'c' }], keepsDead: false });
      await setHeads(52);
      await expect(poll(1, id)).rejects.toThrow(
        /-32000 A reorganisation removed blocks 41 to 51, and the reported logs of blocks 41 to 4\d are more than this filter keeps, and no node has them any more; create a new filter and read again from block 1,/,
      );
    });
  });
});
