import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ChainNode, startChainNode } from '../testing/chain-node.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';
import { startTwoGateways, type TwoGateways } from '../testing/two-gateways.js';
import { createAnswerCache } from './answer-cache.js';

const WAIT = { timeout: 60_000 };
const [redis] = GATEWAY_STORES.filter(({ name }) => name.startsWith('Redis'));

describe.skipIf(redis?.able !== true)('answers that gateways share (needs redis-server)', () => {
  let store: GatewayStore;
  let node: ChainNode;
  let both: TwoGateways;

  beforeAll(async () => {
    store = (await redis?.open()) as GatewayStore;
    node = await startChainNode();
    // All but the newest block is final.
    const text = `networks:
  - {id: main, family: evm, chainId: 1, pollIntervalMs: 100, finality: {tag: false, depth: 1}, upstreams: [{name: one, url: '${node.node.url}'}]}`;
    both = await startTwoGateways([text, text], store);
  }, 60_000);
  afterAll(async () => {
    await both?.close();
    await node?.node.close();
    await store?.close();
  });

  it('are given by a gateway that never asked a node: final ones and no others', async () => {
    const block = (gateway: 0 | 1, number: string): Promise<{ number: string }> =>
      both.call(gateway, 'eth_getBlockByNumber', [number, false]);
    // The final block is known together with the head.
    for (const gateway of [0, 1] as const) {
      await vi.waitFor(async () => expect(await both.heads(gateway)).toEqual({ one: 10 }), WAIT);
    }
    const [first] = [await block(0, '0x6'), await block(0, '0xa')];
    const { sharedAnswers } = await store.options();
    const kept = (number: string): Promise<Buffer | undefined> | undefined =>
      sharedAnswers?.get(`main 1 eth_getBlockByNumber ["${number}",false]`);
    await vi.waitFor(async () => expect(await kept('0x6')).toBeDefined(), WAIT);
    expect(await kept('0xa')).toBeUndefined();
    node.alive = false;
    expect(await block(1, '0x6')).toEqual(first);
    await expect(block(1, '0xa')).rejects.toThrow('-32002');
  });
});

describe('results', () => {
  const large = Buffer.from(`["${'a'.repeat(70_000)}"]`);
  const halves = [large.subarray(0, 40_000), large.subarray(40_000)];

  it('are kept at once if they are small', () => {
    const cache = createAnswerCache(10_000_000);
    cache.set('small', { bytes: Buffer.from('["0x1"]') });
    expect(cache.get('small')?.toString()).toBe('["0x1"]');
  });

  it('are kept when they come again if they are large', () => {
    const cache = createAnswerCache(10_000_000);
    for (const _ of [1, 2]) {
      expect(cache.get('large')).toBeUndefined();
      cache.set('large', { bytes: large, pieces: halves });
    }
    expect(cache.get('large')?.equals(large)).toBe(true);
  });
});
