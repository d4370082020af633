import { startAnvil } from '@packhouse/local';
import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGateway, type Gateway } from '../../create-gateway.js';
import { ask } from '../../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

const hex = (n: number): string => `0x${n.toString(16)}`;
const hashOf = (n: number, branch = 'a'): string => `0x${branch}${n.toString(16).padStart(63, '0')}`;

/** A node with a chain of empty but for one log blocks, as far as it says. */
interface ChainNode {
  node: ScriptedNode;
  head: number;
  alive: boolean;
}

async function chainNode(): Promise<ChainNode> {
  const node = await startScriptedNode();
  const chain: ChainNode = { node, head: 10, alive: true };
  node.answer(({ method, params }) => {
    if (!chain.alive) return 'reset';
    const [first] = params as [string | { blockHash?: string; fromBlock?: string; toBlock?: string }];
    if (method === 'eth_getBlockByNumber') {
      const number = first === 'latest' ? chain.head : first === 'finalized' ? 0 : Number(first);
      if (number > chain.head) return { result: null };
      return { result: { number: hex(number), hash: hashOf(number), parentHash: hashOf(number - 1) } };
    }
    if (method !== 'eth_getLogs' || typeof first === 'string')
      return { error: { code: -32601, message: 'no' } };
    const log = (n: number) => ({ blockNumber: hex(n), blockHash: hashOf(n), logIndex: '0x0' });
    if (first.blockHash !== undefined) {
      const number = Number(`0x${first.blockHash.slice(3)}`);
      if (number > chain.head) return { error: { code: -32000, message: 'unknown block' } };
      return { result: [log(number)] };
    }
    const [from, to] = [Number(first.fromBlock), Math.min(chain.head, Number(first.toBlock))];
    return { result: Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => log(from + n)) };
  });
  return chain;
}

let nodes: ChainNode[];
let at: TestGateway;
let second: Gateway;
let secondUrl: string;
let key: string;

beforeAll(async () => {
  nodes = [await chainNode(), await chainNode()];
  const upstreams = nodes.map(({ node }, n) => `{url: '${node.url}', priority: ${n + 1}}`).join();
  const networks = parseNetworks(
    `networks:\n  - {id: main, family: evm, chainId: 1, pollIntervalMs: 100, upstreams: [${upstreams}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  const { context, database, objectStore } = at;
  second = await createGateway({ context, database, objectStore, networks });
  secondUrl = `http://127.0.0.1:${await second.listen(0, '127.0.0.1')}`;
  key = (await at.makeKey()).key;
});
afterAll(async () => {
  await second?.close();
  await at?.close();
  for (const { node } of nodes ?? []) await node.close();
});

async function call<T>(
  url: string,
  method: string,
  params: unknown[] = [],
  as = key,
  path = 'main',
): Promise<T> {
  const answer = await ask(url, `/${path}/v1/${as}`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: { 'content-type': 'application/json' },
  });
  const { result, error } = answer.json() as { result: T; error?: { code: number; message: string } };
  if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
  return result;
}
const [changes, uninstall] = ['eth_getFilterChanges', 'eth_uninstallFilter'];
const numbers = (logs: { blockNumber: string }[]): number[] =>
  logs.map(({ blockNumber }) => Number(blockNumber));
const setHead = (head: number): void => {
  for (const node of nodes) node.head = head;
};

describe('a filter of two gateways', () => {
  it('gives each log once, whichever is polled', async () => {
    const [one, two] = nodes as [ChainNode, ChainNode];
    setHead(10);
    const id = await call<string>(at.url, 'eth_newFilter', [{}]);
    setHead(12);
    expect(numbers(await call(secondUrl, changes, [id]))).toEqual([11, 12]);
    expect(await call(at.url, changes, [id])).toEqual([]);
    setHead(13);
    const polls = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        call<{ blockNumber: string }[]>(n % 2 ? at.url : secondUrl, changes, [id]),
      ),
    );
    expect(numbers(polls.flat())).toEqual([13]);
    expect(await call(secondUrl, uninstall, [id])).toBe(true);
    await expect(call(at.url, changes, [id])).rejects.toThrow('-32000 filter not found');
    expect([one.head, two.head]).toEqual([13, 13]);
  });

  it('goes on when the node it was made with dies', async () => {
    const [one] = nodes as [ChainNode, ChainNode];
    setHead(20);
    const id = await call<string>(at.url, 'eth_newFilter', [{}]);
    setHead(22);
    one.alive = false;
    try {
      expect(numbers(await call(at.url, changes, [id]))).toEqual([21, 22]);
      setHead(23);
      expect(numbers(await call(secondUrl, changes, [id]))).toEqual([23]);
    } finally {
      one.alive = true;
    }
  });

  it('takes a node that lags for no reorganisation, and loses nothing by it', async () => {
    const [one, two] = nodes as [ChainNode, ChainNode];
    setHead(30);
    const id = await call<string>(at.url, 'eth_newFilter', [{}]);
    const blocks = await call<string>(at.url, 'eth_newBlockFilter');
    setHead(33);
    expect(numbers(await call(at.url, changes, [id]))).toEqual([31, 32, 33]);
    expect(await call(at.url, changes, [blocks])).toEqual([31, 32, 33].map((n) => hashOf(n)));
    // The one that had them dies; the other has not seen them yet.
    one.alive = false;
    two.head = 31;
    try {
      expect(await call(at.url, changes, [id])).toEqual([]);
      expect(await call(at.url, changes, [blocks])).toEqual([]);
      two.head = 34;
      expect(numbers(await call(at.url, changes, [id]))).toEqual([34]);
      expect(await call(at.url, changes, [blocks])).toEqual([hashOf(34)]);
    } finally {
      one.alive = true;
    }
  });

  it('delivers nothing by a poll that fails, and all of it by the next', async () => {
    const failing = nodes as [ChainNode, ChainNode];
    setHead(40);
    const id = await call<string>(at.url, 'eth_newFilter', [{}]);
    setHead(42);
    for (const node of failing) node.alive = false;
    await expect(call(at.url, changes, [id])).rejects.toThrow('-32002');
    for (const node of failing) node.alive = true;
    await vi.waitFor(async () => expect(numbers(await call(secondUrl, changes, [id]))).toEqual([41, 42]), {
      timeout: 60_000,
    });
  });
});

describe('filters of a key', () => {
  it('are gone for all their methods when their time is over', async () => {
    const { filters } = at.database;
    const { create } = filters;
    filters.create = (filter) => create({ ...filter, ttlMs: 0 });
    try {
      const id = await call<string>(at.url, 'eth_newFilter', [{}]);
      for (const method of [changes, 'eth_getFilterLogs']) {
        await expect(call(secondUrl, method, [id])).rejects.toThrow('-32000 filter not found');
      }
      expect(await call(secondUrl, uninstall, [id])).toBe(false);
    } finally {
      filters.create = create;
    }
  });

  it('are a thousand at most; those that were uninstalled do not count, others’ neither', async () => {
    setHead(50);
    const { key: many } = await at.makeKey();
    const make = (): Promise<string> => call(at.url, 'eth_newBlockFilter', [], many);
    const ids: string[] = [];
    while (ids.length < 1_000) ids.push(...(await Promise.all(Array.from({ length: 50 }, make))));
    expect(new Set(ids).size).toBe(1_000);
    await expect(make()).rejects.toThrow('-32005 A key has 1000 filters at most');
    await call(at.url, 'eth_newBlockFilter');
    await call(at.url, uninstall, [ids[0]], many);
    await make();
    await expect(make()).rejects.toThrow('-32005');
  });
});

it('waiting transactions are told once, by either gateway, from when a filter was made', async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const networks = parseNetworks(
    `networks:\n  - {id: main, family: evm, chainId: 31337, upstreams: [{url: '${anvil.url}'}]}`,
    { source: 'test', env: {} },
  );
  const one = await startTestGateway({ networks });
  const { context, database, objectStore } = one;
  const other = await createGateway({ context, database, objectStore, networks });
  const otherUrl = `http://127.0.0.1:${await other.listen(0, '127.0.0.1')}`;
  try {
    const { key: mine } = await one.makeKey();
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
      await call<string>(one.url, 'eth_newPendingTransactionFilter', [], mine),
      await call<string>(otherUrl, 'eth_newPendingTransactionFilter', [], mine),
    ];
    const sent = [await send(), await send()];
    for (const id of ids) {
      const seen: string[] = [];
      let turn = 0;
      await vi.waitFor(
        async () => {
          turn += 1;
          seen.push(...(await call<string[]>(turn % 2 ? otherUrl : one.url, changes, [id], mine)));
          expect(seen).toEqual(sent);
        },
        { timeout: 60_000, interval: 200 },
      );
      expect(seen).not.toContain(before);
    }
  } finally {
    await other.close();
    await one.close();
    await anvil.stop();
  }
});
