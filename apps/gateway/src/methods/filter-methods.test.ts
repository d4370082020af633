import { startAnvil } from '@packhouse/local';
import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { callRpc } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let anvil: Awaited<ReturnType<typeof startAnvil>>;
let at: TestGateway;
let key: string;
let contract: string;

interface Log {
  topics: string[];
  blockHash: string;
  removed: boolean;
}

async function rpc<T>(url: string, method: string, params: unknown[] = []): Promise<T> {
  const { origin, pathname } = new URL(url);
  const answer = await callRpc(origin, pathname, method, params);
  const { result, error } = answer.json() as { result: T; error?: { code: number; message: string } };
  if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
  return result;
}

const node = <T>(method: string, params: unknown[] = []): Promise<T> => rpc(anvil.url, method, params);
const call = <T>(method: string, params: unknown[] = [], as = key): Promise<T> =>
  rpc(`${at.url}/ethereum/v1/${as}`, method, params);

const topic = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

/** Emits one log with the topic `n`, in a block of its own. */
async function emit(n: number): Promise<void> {
  const [from] = await node<string[]>('eth_accounts');
  await node('eth_sendTransaction', [{ from, to: contract, data: topic(n), gas: '0x186a0' }]);
  await node('anvil_mine', ['0x1']);
}

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] });
  const [from] = await node<string[]>('eth_accounts');
  // Runtime: a log whose topic is the call data. Init code: returns it.
  const data = '0x6860003560006000a1006000526009601 7f3'.replace(' ', '');
  const hash = await node<string>('eth_sendTransaction', [{ from, data, gas: '0x186a0' }]);
  await node('anvil_mine', ['0x1']);
  contract = (await node<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])).contractAddress;
  const networks = parseNetworks(
    `networks:\n  - {id: ethereum, family: evm, chainId: 31337, pollIntervalMs: 100, upstreams: [{url: '${anvil.url}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
});

afterAll(async () => {
  await at?.close();
  await anvil?.stop();
});

beforeEach(() => emit(0));

describe('a log filter', () => {
  it('gives each new log once, those that match, none from before it was made', async () => {
    const all = await call<string>('eth_newFilter', [{ address: contract }]);
    const one = await call<string>('eth_newFilter', [{ topics: [[topic(2), topic(3)]] }]);
    expect(all).toMatch(/^0x[1-9a-f][0-9a-f]{20,31}$/);
    expect(await call('eth_getFilterChanges', [all])).toEqual([]);
    for (const n of [1, 2, 3]) await emit(n);
    const topics = (logs: Log[]): unknown => logs.map((log) => [log.topics[0], log.removed]);
    expect(topics(await call('eth_getFilterChanges', [all]))).toEqual(
      [1, 2, 3].map((n) => [topic(n), false]),
    );
    expect(topics(await call('eth_getFilterChanges', [one]))).toEqual([2, 3].map((n) => [topic(n), false]));
    expect(await call('eth_getFilterChanges', [all])).toEqual([]);
  });

  it('gives what a reorganisation undid first, as removed, and then what took its place', async () => {
    const id = await call<string>('eth_newFilter', [{ address: contract }]);
    for (const n of [1, 2]) await emit(n);
    const before = await call<Log[]>('eth_getFilterChanges', [id]);
    await node('anvil_reorg', [2, []]);
    await emit(5);
    const after = await call<Log[]>('eth_getFilterChanges', [id]);
    expect(after.slice(0, 2)).toEqual([...before].reverse().map((log) => ({ ...log, removed: true })));
    expect(after.slice(2).every((log) => !log.removed)).toBe(true);
    expect(after.at(-1)?.topics).toEqual([topic(5)]);
    expect(await call('eth_getFilterChanges', [id])).toEqual([]);
  });

  it('tells of a branch that is only as long, since there is no other node that could be right', async () => {
    const id = await call<string>('eth_newFilter', [{ address: contract }]);
    await emit(1);
    const before = await call<Log[]>('eth_getFilterChanges', [id]);
    await node('anvil_reorg', [1, []]);
    const after = await call<Log[]>('eth_getFilterChanges', [id]);
    expect(after).toEqual(before.map((log) => ({ ...log, removed: true })));
    expect(await call('eth_getFilterChanges', [id])).toEqual([]);
  });

  it('gives each log to one of many who poll at once', async () => {
    const id = await call<string>('eth_newFilter', [{ address: contract }]);
    for (const n of [1, 2, 3]) await emit(n);
    const polls = await Promise.all(
      Array.from({ length: 12 }, () => call<Log[]>('eth_getFilterChanges', [id])),
    );
    expect(polls.flat().map((log) => log.topics[0])).toEqual([topic(1), topic(2), topic(3)]);
  });

  it('gives all logs of its criteria, as eth_getLogs does', async () => {
    const criteria = { fromBlock: '0x0', toBlock: 'latest', address: contract };
    const id = await call<string>('eth_newFilter', [criteria]);
    const logs = await call<Log[]>('eth_getFilterLogs', [id]);
    expect(logs.length).toBeGreaterThan(3);
    expect(logs).toEqual(await node('eth_getLogs', [criteria]));
  });

  it.each([
    [{ fromBlock: '0x5', toBlock: '0x4' }],
    [{ toBlock: '0x4' }],
    [{ fromBlock: 'pending' }],
    [{ fromBlock: 'latest', toBlock: 'finalized' }],
  ])('is refused with the range %j', async (criteria) => {
    await expect(call('eth_newFilter', [criteria])).rejects.toThrow('-32602 invalid block range params');
  });

  it.each(['eth_newFilter', 'eth_getLogs'])(
    'is refused by %s with ten thousand topics at a place',
    async (name) => {
      const topics = [null, Array.from({ length: 10_000 }, (_, n) => topic(n))];
      await expect(call(name, [{ topics }])).rejects.toThrow(
        '-32602 invalid argument 0: topics: 10000 alternatives at index 1, at most 1000',
      );
    },
  );

  it('has a thousand addresses, and is refused where its addresses and topics are too much to keep', async () => {
    const address = Array.from({ length: 1_000 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`);
    await call('eth_newFilter', [{ address }]);
    const topics = [Array.from({ length: 1_000 }, (_, n) => topic(n))];
    await expect(call('eth_newFilter', [{ address, topics }])).rejects.toThrow(
      '-32602 invalid argument 0: more than 65536 characters of addresses and topics',
    );
  });
});

describe('a block filter', () => {
  it('gives the hashes of new blocks, after a reorganisation those of the new branch', async () => {
    const id = await call<string>('eth_newBlockFilter');
    for (const n of [1, 2]) await emit(n);
    const hashes = await call<string[]>('eth_getFilterChanges', [id]);
    const head = await node<{ hash: string; parentHash: string }>('eth_getBlockByNumber', ['latest', false]);
    expect(hashes).toEqual([head.parentHash, head.hash]);
    await node('anvil_reorg', [1, []]);
    await emit(3);
    const after = await call<string[]>('eth_getFilterChanges', [id]);
    const newHead = await node<{ hash: string; parentHash: string }>('eth_getBlockByNumber', [
      'latest',
      false,
    ]);
    expect(after).toEqual([newHead.parentHash, newHead.hash]);
    expect(after).not.toContain(head.hash);
  });

  it('has no logs', async () => {
    const id = await call<string>('eth_newBlockFilter');
    await expect(call('eth_getFilterLogs', [id])).rejects.toThrow('-32000 filter not found');
  });
});

describe('a filter of waiting transactions', () => {
  it('gives the hash of each transaction once, from when it was made', async () => {
    const id = await call<string>('eth_newPendingTransactionFilter');
    const [from] = await node<string[]>('eth_accounts');
    const hash = await node<string>('eth_sendTransaction', [{ from, to: contract, gas: '0x186a0' }]);
    const seen: string[] = [];
    await vi.waitFor(
      async () => {
        seen.push(...(await call<string[]>('eth_getFilterChanges', [id])));
        expect(seen).toContain(hash);
      },
      { timeout: 60_000, interval: 200 },
    );
    await node('anvil_mine', ['0x1']);
    expect(await call('eth_getFilterChanges', [id])).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('a filter', () => {
  it('is nobody else’s, and gone when it was uninstalled or nobody polled it for five minutes', async () => {
    const id = await call<string>('eth_newBlockFilter');
    const other = (await at.makeKey()).key;
    await expect(call('eth_getFilterChanges', [id], other)).rejects.toThrow('-32000 filter not found');
    expect(await call('eth_uninstallFilter', [id], other)).toBe(false);
    expect(await call('eth_uninstallFilter', [id])).toBe(true);
    expect(await call('eth_uninstallFilter', [id])).toBe(false);
    await expect(call('eth_getFilterChanges', [id])).rejects.toThrow('-32000 filter not found');
    for (const no of ['0x0', '0x', 'x', 5, null, `0x1${'0'.repeat(32)}`]) {
      await expect(call('eth_getFilterChanges', [no]), String(no)).rejects.toThrow(
        /-32000 filter not found|-32602/,
      );
    }
  });
});
