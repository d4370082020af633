import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ChainNode, getHash, startChainNode } from '../testing/chain-node.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';
import { startTwoGateways, type TwoGateways } from '../testing/two-gateways.js';

const isAll = process.env.TESTS === 'all';
/** Calls that alternate between the gateways, half of them eth_blockNumber; ALTERNATING_CALLS=10000 for a long run. */
const CALLS = Number(process.env.ALTERNATING_CALLS ?? (isAll ? 2_000 : 600));
/** Times that twenty call at once. */
const ROUNDS = isAll ? 100 : 40;
/** The chain grows by a block after so many calls. */
const CALLS_A_BLOCK = 25;

describe.for(GATEWAY_STORES)('with $name,', ({ able, open }) => {
  describe.skipIf(!able)('two gateways with nodes of their own', () => {
    let store: GatewayStore;
    let nodes: ChainNode[];
    let both: TwoGateways;
    const finals = new Map<ChainNode, number>();
    let head = 10;

    beforeAll(async () => {
      store = await open();
      nodes = await Promise.all([0, 1, 2, 3].map(() => startChainNode()));
      for (const chain of nodes) {
        chain.instead = (method, first) => {
          if (method === 'eth_blockNumber') return { result: `0x${chain.head.toString(16)}` };
          if (method !== 'eth_getBlockByNumber' || (first !== 'finalized' && first !== 'safe'))
            return undefined;
          const number = finals.get(chain) ?? 0;
          return {
            result: {
              number: `0x${number.toString(16)}`,
              hash: getHash(number),
              parentHash: getHash(number - 1),
            },
          };
        };
      }
      const text = (mine: readonly number[]): string => {
        const upstreams = mine.map((n) => `{name: n${n}, url: '${nodes[n]?.node.url}'}`);
        return `networks:\n  - {id: main, family: evm, chainId: 1, pollIntervalMs: 500, upstreams: [${upstreams.join()}]}`;
      };
      both = await startTwoGateways([text([0, 1]), text([2, 3])], store, { patient: true });
    }, 60_000);
    afterAll(async () => {
      clearInterval(moving);
      await both?.close();
      for (const { node } of nodes ?? []) await node.close();
      await store?.close();
    });

    /** The nodes are at most two blocks apart, and one after the other reaches the newest block. */
    const grow = (): void => {
      head += 1;
      for (const chain of nodes) chain.head = Math.max(chain.head, head - 2);
    };
    const catchUp = (): void => {
      const chain = nodes[Math.floor(Math.random() * nodes.length)] as ChainNode;
      chain.head = Math.min(head, chain.head + 1);
    };
    let moving: NodeJS.Timeout;

    it('never go back', async () => {
      await vi.waitFor(async () => expect(await both.call(1, 'eth_blockNumber')).toBe('0xa'), 20_000);
      moving = setInterval(catchUp, 3);
      let told = 0;
      let refused = 0;
      for (let n = 0; n < CALLS; n++) {
        if (n % CALLS_A_BLOCK === 0) grow();
        const asked = n % 4 < 2 ? 'eth_blockNumber' : 'eth_getBlockByNumber';
        const number = await (asked === 'eth_blockNumber'
          ? both.call<string>(n % 2 ? 1 : 0, asked)
          : both
              .call<{ number: string }>(n % 2 ? 1 : 0, asked, ['latest', false])
              .then((block) => block.number)
        ).catch((error: Error) => {
          // No node of that gateway may have the block yet.
          expect(error.message).toMatch(/ block \d+/);
          refused += 1;
          return undefined;
        });
        if (number === undefined) continue;
        expect(Number(number), `${asked} of gateway ${n % 2}, call ${n}`).toBeGreaterThanOrEqual(told);
        told = Number(number);
      }
      expect(told).toBeGreaterThan(head - 3);
      expect(refused).toBeLessThan(CALLS / 20);
    }, 300_000);

    it('never go back where many call at once', async () => {
      let told = 0;
      for (let round = 0; round < ROUNDS; round++) {
        grow();
        const before = told;
        const numbers = await Promise.all(
          Array.from({ length: 20 }, (_, n) => both.call<string>(n % 2 ? 1 : 0, 'eth_blockNumber')),
        );
        for (const number of numbers) {
          expect(Number(number)).toBeGreaterThanOrEqual(before);
          told = Math.max(told, Number(number));
        }
      }
    }, 120_000);

    it.each(['finalized', 'safe'])(
      'tell of %s no block before one that either told',
      async (tag) => {
        clearInterval(moving);
        for (const chain of nodes) chain.head = head;
        for (const [n, chain] of nodes.entries()) finals.set(chain, tag === 'safe' ? 8 : 5 - (n % 2));
        const told = async (gateway: 0 | 1) =>
          Number((await both.call<{ number: string }>(gateway, 'eth_getBlockByNumber', [tag, false])).number);
        await vi.waitFor(async () => expect(await told(0)).toBe(tag === 'safe' ? 8 : 5), 20_000);
        // The nodes of the second gateway fall behind in what they hold to be final.
        for (const chain of nodes.slice(2)) finals.set(chain, 3);
        for (let n = 0; n < 20; n++) expect(await told(1)).toBe(tag === 'safe' ? 8 : 5);
        finals.set(nodes[0] as ChainNode, 9);
        await vi.waitFor(async () => expect(await told(0)).toBe(9), 20_000);
        expect(await told(1)).toBe(9);
        expect(await both.call(1, 'eth_getLogs', [{ fromBlock: tag, toBlock: tag }])).toMatchObject([
          { blockNumber: '0x9' },
        ]);
      },
      60_000,
    );

    it('know a block that only the other has seen, and refuse what needs it with the block and the reason', async () => {
      (nodes[0] as ChainNode).head = head + 2;
      await vi.waitFor(
        async () => expect(Number(await both.call(0, 'eth_blockNumber'))).toBe(head + 2),
        20_000,
      );
      expect(Number(await both.call(1, 'eth_blockNumber'))).toBe(head + 2);
      await expect(both.call(1, 'eth_getBlockByNumber', ['latest', false])).rejects.toThrow(
        `no node is known to have block ${head + 2}: the highest head known of them is ${head}`,
      );
      const waiting = both.call<{ number: string }>(1, 'eth_getBlockByNumber', ['latest', false]);
      (nodes[2] as ChainNode).head = head + 2;
      expect(Number((await waiting).number)).toBe(head + 2);
    }, 60_000);
  });

  it.skipIf(!able)(
    'two gateways take back what they told of a branch that most nodes do not have',
    async () => {
      const store = await open();
      const nodes = await Promise.all([0, 1, 2].map(() => startChainNode()));
      const [ahead, good, late] = nodes as [ChainNode, ChainNode, ChainNode];
      for (const chain of nodes) {
        Object.assign(chain, { head: 800, final: 768 });
        chain.instead = (method) =>
          method === 'eth_blockNumber' ? { result: `0x${chain.head.toString(16)}` } : undefined;
      }
      // The third one cannot judge the branch yet.
      Object.assign(late, { head: 790, final: 758 });
      Object.assign(ahead, { head: 860, final: 828, forks: [{ from: 800, branch: 'b' }] });
      const upstreams = nodes.map(({ node }, n) => `{name: n${n}, url: '${node.url}'}`);
      const text = `networks:\n  - {id: main, family: evm, chainId: 1, pollIntervalMs: 100, upstreams: [${upstreams}]}`;
      const both = await startTwoGateways([text, text], store, { patient: true });
      const told = (gateway: 0 | 1): Promise<unknown[]> =>
        Promise.all([
          both.call(gateway, 'eth_blockNumber'),
          both
            .call<{ hash: string }>(gateway, 'eth_getBlockByNumber', ['latest', false])
            .then(({ hash }) => hash),
          both
            .call<{ number: string }>(gateway, 'eth_getBlockByNumber', ['finalized', false])
            .then(({ number }) => number),
        ]);
      await vi.waitFor(async () => {
        for (const gateway of [0, 1] as const)
          expect(await told(gateway)).toEqual(['0x35c', getHash(860, 'b'), '0x33c']);
      }, 20_000);
      Object.assign(late, { head: 801, final: 768 });
      await vi.waitFor(async () => {
        for (const gateway of [0, 1] as const)
          expect(await told(gateway)).toEqual(['0x321', getHash(801), '0x300']);
      }, 20_000);
      good.head = 802;
      await vi.waitFor(async () => expect((await told(1))[0]).toBe('0x322'), 20_000);
      expect((await told(0))[0]).toBe('0x322');
      await both.close();
      for (const { node } of nodes) await node.close();
      await store.close();
    },
    90_000,
  );
});
