import { createHash } from 'node:crypto';
import { EMPTY_ROOT } from '@packhouse/chain';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';

const [HEAD, FINAL] = ['0x1010', '0x1000'];
/** Stands for a final block that nobody asked for before: answers about it are kept. */
const FRESH = 'fresh';
const HASH = `0x${'12'.repeat(32)}`;
const ROOT = `0x${'34'.repeat(32)}`;
const ZERO = `0x${'0'.repeat(64)}`;
const RIGHT = [{ blockHash: HASH, transactionHash: HASH, logs: [] }];

type List = [method: string, params: unknown[]];

/** Lists of what a final block has, by its number and hash (reth#23394: receipts that were deleted). */
const RECEIPTS = [
  ['eth_getBlockReceipts', [FRESH]],
  ['eth_getBlockReceipts', [HASH]],
  ['eth_getBlockReceipts', [{ blockNumber: FRESH }]],
  ['parity_getBlockReceipts', [FRESH]],
  ['debug_getRawReceipts', [HASH]],
] satisfies List[];
const TRACES = [
  ['debug_traceBlockByNumber', [FRESH, { tracer: 'callTracer' }]],
  ['debug_traceBlockByHash', [HASH]],
  ['trace_replayBlockTransactions', [FRESH, ['trace']]],
] satisfies List[];
const REWARDS = [['trace_block', [FRESH]]] satisfies List[];
const LISTS = [...RECEIPTS, ...TRACES, ...REWARDS];

const some = { transactions: [HASH], receiptsRoot: ROOT };
const none = { transactions: [], receiptsRoot: EMPTY_ROOT };

/** A gateway before nodes, what each says of lists, and what all say of headers. */
function gatewayTo(count: number) {
  const at = { header: {} } as { gate: ScriptedGateway; lists: unknown[]; header: object | null };
  beforeAll(async () => {
    const allow = LISTS.map(([method]) => method).filter((method) => !method.startsWith('eth_'));
    const rpc = `rpc: {allow: [${[...new Set(allow)].join(', ')}]}`;
    at.gate = await startScriptedGateway([`id: main, family: evm, chainId: 1, ${rpc}`], { nodes: count });
    at.gate.nodes.forEach((node, which) => {
      node.answer(({ method, params: [first] }) => {
        if (method === 'eth_chainId') return { result: '0x1' };
        if (!method.startsWith('eth_getBlockBy')) return { result: at.lists[which] };
        if (first === HASH) return { result: at.header && { hash: HASH, number: '0x10', ...at.header } };
        const isWatched = first === 'latest' || first === 'finalized' || Number(first) >= Number(FINAL);
        const number = first === 'latest' ? HEAD : first === 'finalized' ? FINAL : first;
        const block = { number, hash: `0x${createHash('sha256').update(String(number)).digest('hex')}` };
        return { result: isWatched ? block : at.header && { ...block, ...at.header } };
      });
    });
    await vi.waitFor(
      async () => {
        const { text } = await ask(at.gate.at.url, '/metrics');
        for (let n = 1; n <= count; n++) {
          expect(text).toMatch(
            new RegExp(`packhouse_upstream_head_block\\S*upstream="node-${n}"\\S* ${Number(HEAD)}\\n`),
          );
        }
      },
      { timeout: 60_000, interval: 20 },
    );
  });
  afterAll(() => at.gate?.close());
  beforeEach(() => {
    for (const node of at.gate.nodes) node.calls.length = 0;
    // Headers are kept for a while.
    at.gate.at.time.offset += 10_000;
  });
  let next = 1;
  return {
    at,
    get([method, params]: List) {
      next += 1;
      const text = JSON.stringify(params).replace(FRESH, `0x${next.toString(16)}`);
      return at.gate.call('main', method, JSON.parse(text));
    },
    asked: ([method]: List) => at.gate.nodes.map((node) => at.gate.asked(method, node).length),
  };
}

describe('an empty list of a final block, of the first of two nodes', () => {
  const { at, asked, get } = gatewayTo(2);

  it.each(LISTS)('is not believed where the block has transactions: %s %j', async (...list) => {
    at.header = some;
    at.lists = [[], RIGHT];
    expect((await get(list)).result).toEqual(RIGHT);
    expect(asked(list)).toEqual([1, 1]);
  });

  it.each([...RECEIPTS, ...TRACES])('is believed where the header says so: %s %j', async (...list) => {
    at.lists = [[], RIGHT];
    for (const header of [none, { transactions: [], receiptsRoot: ZERO }, { transactions: [] }]) {
      at.header = header;
      at.gate.at.time.offset += 10_000;
      expect((await get(list)).result).toEqual([]);
    }
    expect(asked(list)[1]).toBe(0);
  });

  it.each(LISTS)('has the second asked where no header tells: %s %j', async (...list) => {
    at.lists = [[], RIGHT];
    const headers = [
      null,
      {},
      { transactions: [], receiptsRoot: ROOT },
      { ...none, number: '0x1001', hash: ROOT },
    ];
    for (const header of headers) {
      at.header = header;
      at.gate.at.time.offset += 10_000;
      expect((await get(list)).result).toEqual(RIGHT);
    }
  });

  it.each(RECEIPTS)('is refused where both say so and the header something else: %s %j', async (...list) => {
    at.header = some;
    at.lists = [[], []];
    const { error, result } = await get(list);
    expect(result).toBeUndefined();
    expect(error?.message).toContain('the header of its block says that there is more');
    expect(asked(list)).toEqual([1, 1]);
  });

  it.each([...TRACES, ...REWARDS])('is believed of two nodes: %s %j', async (...list) => {
    at.header = some;
    at.lists = [[], []];
    expect((await get(list)).result).toEqual([]);
    expect(asked(list)).toEqual([1, 1]);
  });

  it.each(REWARDS)('may lack rewards, which no header tells: %s %j', async (...list) => {
    at.header = none;
    at.lists = [[], RIGHT];
    expect((await get(list)).result).toEqual(RIGHT);
  });
});

describe('an empty list of a final block, of a lone node', () => {
  const { at, get } = gatewayTo(1);

  it.each(RECEIPTS)('is refused where the header says something else: %s %j', async (...list) => {
    at.header = some;
    at.lists = [[]];
    expect((await get(list)).error?.message).toContain('the header of its block says that there is more');
  });

  it.each(LISTS)('is the answer where no header says something else: %s %j', async (...list) => {
    at.header = none;
    at.lists = [[]];
    expect((await get(list)).result).toEqual([]);
  });
});
