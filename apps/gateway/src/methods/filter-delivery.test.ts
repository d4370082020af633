import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ChainLog, type ChainNode, startChainNode } from '../testing/chain-node.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';
import type { ScriptedAnswer } from '../testing/scripted-node.js';
import { startTwoGateways, type TwoGateways } from '../testing/two-gateways.js';

const changes = 'eth_getFilterChanges';
const headers = { 'content-type': 'application/json' };
const hash = (digit: string): string => `0x${digit.repeat(64)}`;
const numbers = (logs: ChainLog[]): number[] => logs.map(({ blockNumber }) => Number(blockNumber));

describe.for(GATEWAY_STORES)('with filters in $name,', ({ able, open }) => {
  describe.skipIf(!able)('a poll', () => {
    let store: GatewayStore;
    let node: ChainNode;
    let both: TwoGateways;

    beforeAll(async () => {
      store = await open();
      node = await startChainNode();
      const text = `networks:
  - id: main
    family: evm
    chainId: 1
    pollIntervalMs: 100
    rpc: {maxAnswerBytes: 10000}
    upstreams: [{url: '${node.node.url}'}]`;
      both = await startTwoGateways([text, text], store);
    }, 60_000);
    afterAll(async () => {
      await both?.close();
      await node?.node.close();
      await store?.close();
    });
    const newFilter = (): Promise<string> => both.call(0, 'eth_newFilter', [{}]);
    const poll = async (id: string): Promise<number[]> =>
      numbers(await both.call<ChainLog[]>(1, changes, [id]));

    it('whose answer does not fit into its batch gives all of it when it is asked by itself', async () => {
      node.dataLength = 4_000;
      const ids = await Promise.all([newFilter(), newFilter()]);
      node.head += 2;
      // Both answers wait for the first.
      let release = (): void => undefined;
      const held = new Promise<ScriptedAnswer>((resolve) => {
        release = () => resolve({ result: {} });
      });
      node.instead = (method) => (method === 'eth_getTransactionByHash' ? held : undefined);
      const first = { id: 'first', method: 'eth_getTransactionByHash', params: [hash('1')] };
      const polls = ids.map((id) => ({ id, method: changes, params: [id] }));
      const answering = ask(both.urls[0], `/main/v1/${both.key}`, {
        ...{ method: 'POST', headers, body: JSON.stringify([first, ...polls]) },
      });
      await vi.waitFor(async () => {
        const metrics = await both.at.context.metrics.render();
        expect(metrics).toContain('packhouse_rpc_in_flight{network="main"} 1\n');
      });
      release();
      const answer = await answering;
      const said = answer.json() as unknown as {
        id: string;
        result?: ChainLog[];
        error?: { code: number };
      }[];
      const [, had] = said.filter(({ result }) => result !== undefined);
      const [refused] = said.filter(({ error }) => error !== undefined);
      expect([said.length, refused?.error]).toMatchObject([3, { code: -32005 }]);
      const all = [node.head - 1, node.head];
      expect(numbers(had?.result as ChainLog[])).toEqual(all);
      expect(await poll(refused?.id as string)).toEqual(all);
      expect(await poll(had?.id as string)).toEqual([]);
      node.dataLength = 2;
    });

    it('of a client that is gone before it is answered moves over nothing', async () => {
      const id = await both.call<string>(0, 'eth_newPendingTransactionFilter');
      const { filters } = both;
      const { pendingAfter } = filters;
      await filters.addPending('main', [hash('1')]);
      const path = `/main/v1/${both.key}`;
      const { hostname, port } = new URL(both.urls[0]);
      const connected = once(both.at.gateway.server, 'connection') as Promise<[Socket]>;
      const client = request({ hostname, port, path, method: 'POST', headers, agent: false });
      client.on('error', () => undefined);
      const polled = new Promise<void>((resolve) => {
        filters.pendingAfter = async (...args) => {
          const seen = await pendingAfter(...args);
          const [socket] = await connected;
          client.destroy();
          if (!socket.closed) await once(socket, 'close');
          setImmediate(resolve);
          return seen;
        };
      });
      const { update } = filters;
      let written = 0;
      filters.update = (filter) => {
        written += 1;
        return update(filter);
      };
      try {
        client.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: changes, params: [id] }));
        await polled;
      } finally {
        Object.assign(filters, { pendingAfter, update });
      }
      expect(written).toBe(0);
      expect(await both.call(0, changes, [id])).toEqual([hash('1')]);
    });

    it('that wants no answer moves over nothing', async () => {
      const id = await newFilter();
      node.head += 1;
      const body = JSON.stringify({ jsonrpc: '2.0', method: changes, params: [id] });
      const answer = await ask(both.urls[0], `/main/v1/${both.key}`, { method: 'POST', headers, body });
      expect(answer.status).toBe(204);
      expect(await poll(id)).toEqual([node.head]);
    });
  });

  describe.skipIf(!able)('clients without a key', () => {
    let store: GatewayStore;
    let node: ChainNode;
    let both: TwoGateways;
    let held: (() => void)[];

    beforeAll(async () => {
      store = await open();
      node = await startChainNode();
      const text = `networks:
  - id: main
    family: evm
    chainId: 1
    rpc: {open: true, maxCallsInFlight: 1}
    upstreams: [{url: '${node.node.url}'}]`;
      both = await startTwoGateways([text, text], store, { trustProxy: 1, openRate: 100_000 });
    }, 60_000);
    afterAll(async () => {
      await both?.close();
      await node?.node.close();
      await store?.close();
    });

    const call = async (from: string, method: string, params: unknown[] = []) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const forwarded = { ...headers, 'x-forwarded-for': from };
      const answer = await ask(both.urls[0], '/main/v1/', { method: 'POST', headers: forwarded, body });
      return answer.json() as { result?: unknown; error?: { code: number; message: string } };
    };

    it('have filters of their own by their addresses, so many each', async () => {
      const { filters } = both;
      const { create } = filters;
      filters.create = (filter) => create({ ...filter, maxOfKey: 2 });
      try {
        const { result: id } = await call('10.1.0.1', 'eth_newBlockFilter');
        for (const method of [changes, 'eth_getFilterLogs']) {
          expect((await call('10.1.0.2', method, [id])).error).toMatchObject({ code: -32000 });
        }
        expect((await call('10.1.0.2', 'eth_uninstallFilter', [id])).result).toBe(false);
        expect((await call('10.1.0.1', changes, [id])).result).toEqual([]);
        expect((await call('10.1.0.1', 'eth_newBlockFilter')).error).toBeUndefined();
        expect((await call('10.1.0.1', 'eth_newBlockFilter')).error).toMatchObject({ code: -32005 });
        expect((await call('10.1.0.2', 'eth_newBlockFilter')).error).toBeUndefined();
        // An address within the same 64 bits is the same client.
        const { result: theirs } = await call('2001:db8::1', 'eth_newBlockFilter');
        expect((await call('2001:db8::2', changes, [theirs])).result).toEqual([]);
      } finally {
        filters.create = create;
      }
    });

    it('have calls in flight of their own', async () => {
      held = [];
      node.node.answer(async ({ method }) => {
        if (method === 'eth_call') await new Promise<void>((resolve) => held.push(resolve));
        return { result: '0x' };
      });
      const params = (n: number): unknown[] => [{ to: `0x${'ab'.repeat(20)}`, data: `0x0${n}` }];
      const first = call('10.1.0.1', 'eth_call', params(1));
      await expect.poll(() => held.length, { timeout: 60_000 }).toBe(1);
      expect((await call('10.1.0.1', 'eth_call', params(2))).error).toMatchObject({ code: -32005 });
      const theirs = call('10.1.0.2', 'eth_call', params(3));
      await expect.poll(() => held.length, { timeout: 60_000 }).toBe(2);
      for (const release of held) release();
      expect([await first, await theirs]).toMatchObject([{ result: '0x' }, { result: '0x' }]);
    });
  });
});
