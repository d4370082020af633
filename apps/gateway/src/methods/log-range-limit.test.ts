import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';

const [HEAD, SAFE, FINAL] = [20_000, 15_000, 12_000];
const hex = (n: number): string => `0x${n.toString(16)}`;
const HASH = `0x${'1'.repeat(64)}`;

let on: ScriptedGateway;
/** Of a plan with 1,000 blocks; of the same plan, with 100; without a limit. */
let key: string;
let narrow: string;
let free: string;

beforeAll(async () => {
  on = await startScriptedGateway(['id: main, family: evm, chainId: 1, rpc: {allow: [trace_filter]}']);
  on.node.answer(({ method, params }) => {
    if (method === 'eth_getLogs' || method === 'trace_filter') return { result: [] };
    if (method === 'eth_chainId') return { result: '0x1' };
    const tags: Record<string, number> = { safe: SAFE, finalized: FINAL, latest: HEAD };
    const number = hex(tags[String(params[0])] ?? Number(params[0] ?? HEAD));
    if (method === 'eth_blockNumber') return { result: hex(HEAD) };
    return { result: { number, hash: HASH, parentHash: HASH } };
  });
  const { keys, plans } = on.at.database;
  await plans.set('capped', { maxLogRange: 1_000, requestsPerSecond: 1_000_000 }, { make: true });
  const make = async (plan: string, maxLogRange: number | null = null) =>
    (await keys.create({ application: 'indexer', network: null, plan, maxLogRange })).key;
  key = await make('capped');
  narrow = await make('capped', 100);
  free = await make('unlimited');
});
afterAll(() => on?.close());

const logs = (filter: object, as = key) => on.call('main', 'eth_getLogs', [filter], as);
const range = (fromBlock?: string, toBlock?: string) => ({ fromBlock, toBlock });

describe('a range of logs', () => {
  it.each([
    ['of as many blocks', range('0x1', hex(1_000))],
    ['that ends beyond the head', range(hex(HEAD - 999), '0xffffff')],
    ['up to latest', range(hex(HEAD - 999), 'latest')],
    ['up to latest, unsaid', range(hex(HEAD - 999))],
    ['of the newest block', {}],
    ['of one tag', range('finalized', 'finalized')],
    ['between tags', range(hex(SAFE - 999), 'safe')],
    ['of the first block', range('earliest', 'earliest')],
    ['from the first block', range('earliest', hex(999))],
    ['of a block by its hash', { blockHash: HASH }],
  ])('%s is answered', async (_, filter) => {
    expect((await logs(filter)).error).toBeUndefined();
  });

  it.each([
    ['of one block more', range('0x1', hex(1_001)), 1, 1_001],
    ['up to latest', range(hex(HEAD - 1_000), 'latest'), HEAD - 1_000, 1_001],
    ['up to latest, unsaid', range('0x0'), 0, HEAD + 1],
    ['up to pending', range('0x0', 'pending'), 0, HEAD + 1],
    ['that ends beyond the head', range('0x5', '0xffffffffffff'), 5, HEAD - 4],
    ['from the first block', range('earliest', 'latest'), 0, HEAD + 1],
    ['from the final block', range('finalized', 'latest'), FINAL, HEAD - FINAL + 1],
    ['between tags', range('finalized', 'safe'), FINAL, SAFE - FINAL + 1],
    ['up to the final block', range('0x1', 'finalized'), 1, FINAL],
  ])('%s is refused before a node is asked', async (_, filter, from, requested) => {
    const before = on.asked('eth_getLogs').length;
    const { status, error } = await logs(filter);
    const suggestedRange = { fromBlock: hex(from), toBlock: hex(from + 999) };
    expect([status, error]).toMatchObject([
      200,
      { code: -32005, data: { reason: 'log-range-too-wide', limit: 1_000, requested, suggestedRange } },
    ]);
    expect(on.asked('eth_getLogs')).toHaveLength(before);
    expect((await logs(suggestedRange)).error).toBeUndefined();
  });

  it('is refused in the words that indexers read the next range from', async () => {
    const { error } = await logs(range('0x64', '0x1388'));
    expect(error?.message).toBe(
      'query exceeds max block range 1000: blocks 100 to 5000 are 4901. Try with this block range [0x64, 0x44b].',
    );
    // ponder, getLogsRetryHelper.ts: the first of its patterns that fits, from which it cuts the whole range.
    const found = /Try with this block range \[0x([0-9a-fA-F]+),\s*0x([0-9a-fA-F]+)\]/.exec(
      error?.message ?? '',
    );
    expect(Number(`0x${found?.[2]}`) - Number(`0x${found?.[1]}`) + 1).toBe(1_000);
    // reth's words, for those who read the limit.
    expect(error?.message).toMatch(/query exceeds max block range 1000\b/);
  });

  it('has the limit of the key if that is lower, and none of another plan', async () => {
    expect((await logs(range('0x1', '0x64'), narrow)).error).toBeUndefined();
    expect((await logs(range('0x1', '0x65'), narrow)).error?.data).toMatchObject({
      limit: 100,
      requested: 101,
    });
    expect((await logs(range('0x1', hex(HEAD)), free)).error).toBeUndefined();
  });

  it('is refused also if its answer is in memory, as text and as logs', async () => {
    const filter = range('0x1', hex(5_000));
    const asks = async (): Promise<number> => {
      const before = on.asked('eth_getLogs').length;
      expect((await logs(filter, free)).error).toBeUndefined();
      return on.asked('eth_getLogs').length - before;
    };
    await expect.poll(asks).toBe(0);
    const asked = on.asked('eth_getLogs').length;
    expect((await logs(filter)).error?.data?.reason).toBe('log-range-too-wide');
    expect((await logs(filter, free)).error).toBeUndefined();
    expect(on.asked('eth_getLogs')).toHaveLength(asked);
  });

  it('is refused by itself in a batch', async () => {
    const calls = [100, 5_000].map((to, id) => ({
      id,
      method: 'eth_getLogs',
      params: [range('0x1', hex(to))],
    }));
    const { json } = await post(on.at.url, `/main/v1/${key}`, calls);
    expect(json()).toMatchObject([
      { id: 0, result: [] },
      { id: 1, error: { code: -32005 } },
    ]);
  });

  it('is limited in filters too, when they are made and when all their logs are read', async () => {
    const create = (filter: object) => on.call('main', 'eth_newFilter', [filter], key);
    expect((await create(range('0x1', hex(1_001)))).error?.data?.reason).toBe('log-range-too-wide');
    expect((await create(range('0x1'))).error?.data?.reason).toBe('log-range-too-wide');
    const { result: id } = await create(range(hex(HEAD - 999)));
    expect((await on.call('main', 'eth_getFilterLogs', [id], key)).result).toEqual([]);
    await on.at.database.plans.set('capped', { maxLogRange: 999 });
    on.at.time.offset += 1_000;
    try {
      const { error } = await on.call('main', 'eth_getFilterLogs', [id], key);
      expect(error?.data).toMatchObject({ reason: 'log-range-too-wide', limit: 999, requested: 1_000 });
    } finally {
      await on.at.database.plans.set('capped', { maxLogRange: 1_000 });
      on.at.time.offset += 1_000;
    }
  });

  it('says what is wrong with it first', async () => {
    expect((await logs(range('0x5', '0x1'))).error?.message).toBe('invalid block range params');
    expect((await logs(range('5', '0x1'))).error?.code).toBe(-32602);
  });
});

describe('trace_filter, if it is allowed', () => {
  const traces = (filter: unknown, as = key) => on.call('main', 'trace_filter', [filter], as);

  it('has the same limit, from the first block if it names none', async () => {
    expect((await traces(range('0x1', hex(1_000)))).result).toEqual([]);
    expect((await traces(range('0x1', hex(1_001)))).error?.data).toMatchObject({ requested: 1_001 });
    expect((await traces({ toBlock: 'latest' })).error?.data).toMatchObject({ requested: HEAD + 1 });
    expect((await traces({})).error?.data).toMatchObject({ reason: 'log-range-too-wide' });
    expect((await traces({ blockHash: HASH })).error?.data).toMatchObject({ reason: 'log-range-too-wide' });
    expect((await traces({}, free)).result).toEqual([]);
  });

  it.each([[{ fromBlock: '0x1', toBlock: '0x2', ToBlock: '0xffff' }], [{ fromBlock: 1 }], ['all'], [null]])(
    'is refused for %j, which nodes may read as another range',
    async (filter) => {
      expect((await traces(filter)).error?.code).toBe(-32602);
    },
  );
});

it('while no node knows what a tag stands for, a limited key is not answered by guessing', async () => {
  const away = await startScriptedGateway(['id: main, family: evm, chainId: 1']);
  try {
    away.node.answer(({ method }) => ({ result: method === 'eth_getLogs' ? [] : null }));
    const { keys, plans } = away.at.database;
    await plans.set('capped', { maxLogRange: 1_000 }, { make: true });
    const made = await keys.create({ application: 'indexer', network: null, plan: 'capped' });
    const { error } = await away.call('main', 'eth_getLogs', [range('0x0', 'latest')], made.key);
    expect(error?.code).toBe(-32002);
  } finally {
    await away.close();
  }
});
