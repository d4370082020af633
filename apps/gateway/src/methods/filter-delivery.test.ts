import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { filterIdBytes } from '../filters/filter-state.js';
import { ask } from '../testing/ask.js';
import { type ChainLog, type ChainNode, getHash, startChainNode } from '../testing/chain-node.js';
import { GATEWAY_STORES, type GatewayStore } from '../testing/gateway-stores.js';
import type { ScriptedAnswer } from '../testing/scripted-node.js';
import { startTwoGateways, type TwoGateways } from '../testing/two-gateways.js';

const changes = 'eth_getFilterChanges';
const headers = { 'content-type': 'application/json' };
const hash = (digit: string): string => `0x${digit.repeat(64)}`;
/** Resolves when a connection is closed, reset or not. */
const closed = (socket: Socket): Promise<void> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));
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
        method: 'POST',
        headers,
        body: JSON.stringify([first, ...polls]),
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
          await closed(socket);
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

    type Update = Parameters<TwoGateways['filters']['update']>[0];
    /** The write of a poll that has changes, before they are sent. */
    const begins = ({ state }: Update): boolean => /"until":[1-9]/.test(state);
    const isUpdateOf = (filter: Update, id: string): boolean =>
      BigInt(`0x${filter.id.toString('hex')}`) === BigInt(id);

    /** Polls through the first gateway; the connection breaks when the cursors have moved, before the answer is sent. */
    const pollBroken = async (...ids: string[]): Promise<void> => {
      const path = `/main/v1/${both.key}`;
      const { hostname, port } = new URL(both.urls[0]);
      const connected = once(both.at.gateway.server, 'connection') as Promise<[Socket]>;
      const client = request({ hostname, port, path, method: 'POST', headers, agent: false });
      client.on('error', () => undefined);
      const { filters } = both;
      const { update } = filters;
      let moved = 0;
      const broken = new Promise<void>((resolve) => {
        filters.update = async (filter) => {
          const version = await update(filter);
          if (begins(filter)) moved += 1;
          if (moved < ids.length) return version;
          const [socket] = await connected;
          client.destroy();
          await closed(socket);
          resolve();
          return version;
        };
      });
      const calls = ids.map((id) => ({ jsonrpc: '2.0', id, method: changes, params: [id] }));
      client.end(JSON.stringify(calls.length === 1 ? calls[0] : calls));
      await broken;
      filters.update = update;
      // A slow machine may take longer than a poll waits for that.
      const states = async (): Promise<string[]> => {
        const rows = await Promise.all(ids.map((id) => filters.get(filterIdBytes(id) as Buffer)));
        return rows.map((row) => row?.state ?? '');
      };
      await expect
        .poll(async () => (await states()).some((state) => /"until":[1-9]/.test(state)))
        .toBe(false);
    };
    const told = (logs: ChainLog[]): string[] =>
      logs.map((log) => `${log.removed ? '-' : ''}${log.blockHash[2]}${Number(log.blockNumber)}`);
    const blocks = (from: number, to: number, branch = 'a'): string[] =>
      Array.from({ length: to - from + 1 }, (_, n) => `${branch}${from + n}`);

    it('whose answer could not be sent is given again, with what is new, of all filters of a batch', async () => {
      const ids = [
        await newFilter(),
        await both.call<string>(0, 'eth_newBlockFilter'),
        await both.call<string>(0, 'eth_newPendingTransactionFilter'),
      ] as const;
      const from = node.head + 1;
      node.head += 2;
      await both.filters.addPending('main', [hash('2')]);
      await pollBroken(...ids);
      await pollBroken(...ids);
      node.head += 1;
      await both.filters.addPending('main', [hash('3')]);
      expect(await poll(ids[0])).toEqual([from, from + 1, from + 2]);
      expect(await both.call(1, changes, [ids[1]])).toEqual(
        [from, from + 1, from + 2].map((n) => getHash(n)),
      );
      expect(await both.call(1, changes, [ids[2]])).toEqual([hash('2'), hash('3')]);
      for (const id of ids) expect(await both.call(0, changes, [id])).toEqual([]);
    });

    it('whose answer could not be sent is given again as it was where a reorganisation removes it since', async () => {
      const ids = [await newFilter(), await both.call<string>(0, 'eth_newBlockFilter')] as const;
      const from = node.head + 1;
      node.head += 3;
      try {
        for (const id of ids) await pollBroken(id);
        node.forks = [{ from: from + 1, branch: 'b' }];
        node.head += 1;
        await pollBroken(ids[0]);
        expect(told(await both.call(1, changes, [ids[0]]))).toEqual(blocks(from, from + 2));
        await pollBroken(ids[0]);
        const undone = [`-a${from + 2}`, `-a${from + 1}`];
        const now = [...undone, ...blocks(from + 1, from + 3, 'b')];
        node.forks.push({ from: from + 2, branch: 'c' });
        node.head += 1;
        expect(told(await both.call(1, changes, [ids[0]]))).toEqual(now);
        expect(told(await both.call(0, changes, [ids[0]]))).toEqual([
          ...blocks(from + 2, from + 3, 'b')
            .reverse()
            .map((block) => `-${block}`),
          ...blocks(from + 2, from + 4, 'c'),
        ]);
        const hashes = (first: number, last: number, branch: string): string[] =>
          Array.from({ length: last - first + 1 }, (_, n) => getHash(first + n, branch));
        expect(await both.call(1, changes, [ids[1]])).toEqual(hashes(from, from + 2, 'a'));
        expect(await both.call(1, changes, [ids[1]])).toEqual([
          ...hashes(from + 1, from + 1, 'b'),
          ...hashes(from + 2, from + 4, 'c'),
        ]);
      } finally {
        node.forks = [];
        node.head += 10;
      }
    });

    it('whose answer could not be sent is given again by itself where what is new does not fit', async () => {
      node.dataLength = 4_000;
      const id = await newFilter();
      const from = node.head + 1;
      node.head += 2;
      await pollBroken(id);
      node.head += 1;
      expect(await poll(id)).toEqual([from, from + 1]);
      expect(await poll(id)).toEqual([from + 2]);
      node.dataLength = 2;
    });

    /** Changes what is final, and waits until both gateways know it. */
    const setFinal = async (change: () => void): Promise<void> => {
      change();
      let asked = 0;
      node.instead = (_, first) => {
        if (first === 'finalized') asked += 1;
        return undefined;
      };
      await expect.poll(() => asked, { timeout: 60_000 }).toBeGreaterThan(4);
      delete node.instead;
    };

    it('whose answer could not be sent is given again where it began among final blocks', async () => {
      const id = await newFilter();
      const from = node.head + 1;
      await setFinal(() => {
        node.head += 50;
        node.final = node.head - 20;
      });
      const all = Array.from({ length: 50 }, (_, n) => from + n);
      await pollBroken(id);
      expect(await poll(id)).toEqual(all);
      expect(await poll(id)).toEqual([]);
    });

    it('whose answer could not be sent loses nothing where what is new begins among final blocks', async () => {
      const id = await newFilter();
      const from = node.head + 1;
      node.head += 2;
      await pollBroken(id);
      await setFinal(() => {
        node.head += 40;
        node.final = node.head - 10;
      });
      await pollBroken(id);
      const all = Array.from({ length: 42 }, (_, n) => from + n);
      expect(await poll(id)).toEqual(all.slice(0, 2));
      await pollBroken(id);
      expect(await poll(id)).toEqual(all.slice(2));
      expect(await poll(id)).toEqual([]);
    });

    it('gives nothing while a gateway delivers the same, and gives it again where that gateway was killed', async () => {
      const id = await newFilter();
      node.head += 1;
      const { filters } = both;
      const { update } = filters;
      let release: () => void = () => undefined;
      const killed = new Promise<void>((resolve) => {
        release = resolve;
      });
      const stored = new Promise<void>((resolve) => {
        filters.update = async (filter) => {
          const version = await update(filter);
          if (!begins(filter) || !isUpdateOf(filter, id)) return version;
          filters.update = update;
          resolve();
          await killed;
          return version;
        };
      });
      const first = both.call<ChainLog[]>(0, changes, [id]);
      await stored;
      expect(await poll(id)).toEqual([]);
      both.at.time.offset += 10_000;
      expect(await poll(id)).toEqual([node.head]);
      // It comes twice if the first answer arrives after all.
      release();
      expect(numbers(await first)).toEqual([node.head]);
      expect(await poll(id)).toEqual([]);
    });

    it('is given again where the gateway was killed after it was sent, before that was stored', async () => {
      const id = await newFilter();
      node.head += 1;
      const { filters } = both;
      const { update } = filters;
      const killed = new Promise<void>((resolve) => {
        filters.update = (filter) => {
          if (begins(filter) || !isUpdateOf(filter, id)) return update(filter);
          filters.update = update;
          resolve();
          return Promise.resolve(null);
        };
      });
      expect(numbers(await both.call(0, changes, [id]))).toEqual([node.head]);
      await killed;
      both.at.time.offset += 10_000;
      expect(await poll(id)).toEqual([node.head]);
      expect(await poll(id)).toEqual([]);
    });

    it('gives a filter that is polled twice in a batch once, and one write more than an empty one', async () => {
      const id = await newFilter();
      node.head += 1;
      const { filters } = both;
      const { update } = filters;
      let writes = 0;
      filters.update = async (filter) => {
        const version = await update(filter);
        if (version !== null && isUpdateOf(filter, id)) writes += 1;
        return version;
      };
      try {
        const calls = [1, 2, 3].map((n) => ({ jsonrpc: '2.0', id: n, method: changes, params: [id] }));
        const body = JSON.stringify(calls);
        const answer = await ask(both.urls[0], `/main/v1/${both.key}`, { method: 'POST', headers, body });
        const said = answer.json() as unknown as { result: ChainLog[] }[];
        expect(numbers(said.flatMap(({ result }) => result))).toEqual([node.head]);
        await expect.poll(() => writes).toBe(2);
        expect(await both.call(0, changes, [id])).toEqual([]);
        expect(writes).toBe(3);
      } finally {
        filters.update = update;
      }
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
