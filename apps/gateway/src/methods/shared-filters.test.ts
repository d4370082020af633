import { randomBytes } from 'node:crypto';
import { startAnvil } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ChainLog, type ChainNode, getHash, startChainNode } from '../testing/chain-node.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';
import { startTwoGateways, type TwoGateways } from '../testing/two-gateways.js';

const [changes, uninstall] = ['eth_getFilterChanges', 'eth_uninstallFilter'];
const numbers = (logs: ChainLog[]): number[] => logs.map(({ blockNumber }) => Number(blockNumber));

describe.for(GATEWAY_STORES)('with filters in $name,', ({ able, open }) => {
  describe.skipIf(!able)('two gateways', () => {
    let store: GatewayStore;
    let nodes: [ChainNode, ChainNode];
    let both: TwoGateways;
    const call: TwoGateways['call'] = (...args) => both.call(...args);
    const setHead = (head: number): void => {
      for (const node of nodes) node.head = head;
    };

    beforeAll(async () => {
      store = await open();
      nodes = [await startChainNode(), await startChainNode()];
      const upstreams = nodes.map(({ node }, n) => `{url: '${node.url}', priority: ${n + 1}}`).join();
      const text = `networks:\n  - {id: main, family: evm, chainId: 1, pollIntervalMs: 100, upstreams: [${upstreams}]}`;
      both = await startTwoGateways([text, text], store);
    }, 60_000);
    afterAll(async () => {
      await both?.close();
      for (const { node } of nodes ?? []) await node.close();
      await store?.close();
    });

    describe('a filter', () => {
      it('gives each log once, whichever is polled', async () => {
        const [one, two] = nodes;
        setHead(10);
        const id = await call<string>(0, 'eth_newFilter', [{}]);
        setHead(12);
        expect(numbers(await call(1, changes, [id]))).toEqual([11, 12]);
        expect(await call(0, changes, [id])).toEqual([]);
        setHead(13);
        const polls = await Promise.all(
          Array.from({ length: 10 }, (_, n) => call<ChainLog[]>(n % 2 ? 0 : 1, changes, [id])),
        );
        expect(numbers(polls.flat())).toEqual([13]);
        expect(await call(1, uninstall, [id])).toBe(true);
        await expect(call(0, changes, [id])).rejects.toThrow('-32000 filter not found');
        expect([one.head, two.head]).toEqual([13, 13]);
      });

      it('goes on when the node it was made with dies', async () => {
        const [one] = nodes;
        setHead(20);
        const id = await call<string>(0, 'eth_newFilter', [{}]);
        setHead(22);
        one.alive = false;
        try {
          expect(numbers(await call(0, changes, [id]))).toEqual([21, 22]);
          setHead(23);
          expect(numbers(await call(1, changes, [id]))).toEqual([23]);
        } finally {
          one.alive = true;
        }
      });

      it('takes a node that lags for no reorganisation, and loses nothing by it', async () => {
        const [one, two] = nodes;
        setHead(30);
        const id = await call<string>(0, 'eth_newFilter', [{}]);
        const blocks = await call<string>(0, 'eth_newBlockFilter');
        setHead(33);
        expect(numbers(await call(0, changes, [id]))).toEqual([31, 32, 33]);
        expect(await call(0, changes, [blocks])).toEqual([31, 32, 33].map((n) => getHash(n)));
        // The node that had them dies; the other has not seen them yet.
        one.alive = false;
        two.head = 31;
        try {
          // Refused if the gateway has already seen a head that this node lacks.
          for (const each of [id, blocks]) {
            const told = await call<unknown[]>(0, changes, [each]).catch((error: Error) => {
              expect(error.message).toContain('-32002');
              return [];
            });
            expect(told).toEqual([]);
          }
          two.head = 34;
          const next = (each: string) =>
            vi.waitFor(() => call<unknown[]>(0, changes, [each]), { timeout: 60_000 });
          expect(numbers((await next(id)) as Parameters<typeof numbers>[0])).toEqual([34]);
          expect(await next(blocks)).toEqual([getHash(34)]);
        } finally {
          one.alive = true;
        }
      });

      it('delivers nothing by a poll that fails, and all of it by the next', async () => {
        const failing = nodes;
        setHead(40);
        const id = await call<string>(0, 'eth_newFilter', [{}]);
        setHead(42);
        for (const node of failing) node.alive = false;
        await expect(call(0, changes, [id])).rejects.toThrow('-32002');
        for (const node of failing) node.alive = true;
        await vi.waitFor(async () => expect(numbers(await call(1, changes, [id]))).toEqual([41, 42]), {
          timeout: 60_000,
        });
      });
    });

    describe('filters of a key', () => {
      it('are gone for all their methods when their time is over', async () => {
        const { filters } = both;
        const { create } = filters;
        filters.create = (filter) => create({ ...filter, ttlMs: 0 });
        try {
          const id = await call<string>(0, 'eth_newFilter', [{}]);
          for (const method of [changes, 'eth_getFilterLogs']) {
            await expect(call(1, method, [id])).rejects.toThrow('-32000 filter not found');
          }
          expect(await call(1, uninstall, [id])).toBe(false);
        } finally {
          filters.create = create;
        }
      });

      it('are a thousand at most; those that were uninstalled do not count, others’ neither', async () => {
        setHead(50);
        const { key: many, row } = await both.at.makeKey();
        const make = (): Promise<string> => call(0, 'eth_newBlockFilter', [], many);
        const ids = await Promise.all(Array.from({ length: 50 }, make));
        expect(new Set(ids).size).toBe(50);
        // What a call stores, without the call.
        const store = (): Promise<boolean> =>
          both.filters.create({
            id: randomBytes(16),
            network: 'main',
            keyId: row.id,
            state: '{}',
            ttlMs: 60_000,
            maxOfKey: 1_000,
          });
        for (let stored = 0; stored < 950; stored += 10)
          expect(new Set(await Promise.all(Array.from({ length: 10 }, store)))).toEqual(new Set([true]));
        await expect(make()).rejects.toThrow(
          '-32005 A key, or an address without one, may have 1000 filters',
        );
        await call(0, 'eth_newBlockFilter');
        await call(0, uninstall, [ids[0]], many);
        await make();
        await expect(make()).rejects.toThrow('-32005');
      });
    });

    it('tell of waiting transactions once, from when a filter was made', async () => {
      const anvil = await startAnvil({ args: ['--no-mining'] });
      const text = `networks:\n  - {id: main, family: evm, chainId: 31337, upstreams: [{url: '${anvil.url}'}]}`;
      const pair = await startTwoGateways([text, text], store);
      try {
        const node = async <T>(method: string, params: unknown[] = []): Promise<T> => {
          const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
          const answer = await ask(anvil.url, '/', {
            method: 'POST',
            body,
            headers: { 'content-type': 'application/json' },
          });
          return answer.json().result as T;
        };
        const [from, to] = await node<string[]>('eth_accounts');
        const send = (): Promise<string> => node('eth_sendTransaction', [{ from, to, value: '0x1' }]);
        const before = await send();
        const ids = [
          await pair.call<string>(0, 'eth_newPendingTransactionFilter'),
          await pair.call<string>(1, 'eth_newPendingTransactionFilter'),
        ];
        const sent = [await send(), await send()];
        for (const id of ids) {
          const seen: string[] = [];
          let turn = 0;
          await vi.waitFor(
            async () => {
              turn += 1;
              seen.push(...(await pair.call<string[]>(turn % 2 ? 1 : 0, changes, [id])));
              expect(seen).toEqual(sent);
            },
            { timeout: 60_000, interval: 200 },
          );
          expect(seen).not.toContain(before);
        }
      } finally {
        await pair.close();
        await anvil.stop();
      }
    });
  });
});
