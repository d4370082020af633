import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ChainNode, getHash, startChainNode } from '../testing/chain-node.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';
import { startTwoGateways, type TwoGateways } from '../testing/two-gateways.js';

const WAIT = { timeout: 60_000 };
const LIE = getHash(6, 'f');

describe.for(GATEWAY_STORES)('with $name,', ({ able, name, open }) => {
  describe.skipIf(!able)('what a node said before it changed its chain', () => {
    let store: GatewayStore;
    let nodes: [ChainNode, ChainNode];
    let both: TwoGateways;

    beforeAll(async () => {
      store = await open();
      nodes = [await startChainNode(), await startChainNode()];
      for (const node of nodes) node.final = 8;
      const toText = (name: string, { node }: ChainNode): string => `networks:
  - {id: main, family: evm, chainId: 1, pollIntervalMs: 100, upstreams: [{name: ${name}, url: '${node.url}'}]}`;
      both = await startTwoGateways([toText('one', nodes[0]), toText('two', nodes[1])], store);
    }, 60_000);
    afterAll(async () => {
      await both?.close();
      for (const { node } of nodes ?? []) await node.close();
      await store?.close();
    });

    it('is told by no gateway any more, from memory or from the store', async () => {
      const [one, two] = nodes;
      const getBlock = async (gateway: 0 | 1): Promise<string> =>
        (await both.call<{ hash: string }>(gateway, 'eth_getBlockByNumber', ['0x6', false])).hash;
      const countAsked = (): number => two.node.calls.filter(({ params }) => params[0] === '0x6').length;
      /** Calls a gateway until its answer is kept. */
      const keep = async (gateway: 0 | 1, { node }: ChainNode): Promise<void> =>
        vi.waitFor(async () => {
          await getBlock(gateway);
          node.calls.length = 0;
          await getBlock(gateway);
          expect(node.calls.filter(({ params }) => params[0] === '0x6')).toEqual([]);
        }, WAIT);
      one.instead = (_, first) => (first === '0x6' ? { result: { number: '0x6', hash: LIE } } : undefined);
      await keep(0, one);
      expect(await getBlock(0)).toBe(LIE);
      await keep(1, two);
      // Redis gives it to the other gateway too.
      const isShared = name.startsWith('Redis');
      expect(await getBlock(1)).toBe(isShared ? LIE : getHash(6));
      expect(countAsked()).toBe(0);

      one.instead = () => undefined;
      one.forks = [{ from: 7, branch: 'b' }];
      await vi.waitFor(async () => expect(await getBlock(0)).toBe(getHash(6)), WAIT);
      await vi.waitFor(async () => {
        expect(await getBlock(1)).toBe(getHash(6));
        if (!isShared) expect(countAsked()).toBeGreaterThan(0);
      }, WAIT);
    });
  });
});
