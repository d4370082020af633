import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedAnswer } from '../testing/scripted-node.js';

const HEAD = 20_000;
/** To nodes, for one call. */
const MOST_QUESTIONS = 64;
const hex = (n: number): string => `0x${n.toString(16)}`;

interface Range {
  from: number;
  to: number;
}

/** A node's limits of blocks and logs, with its errors. */
interface Limits {
  blocks?: number;
  logs?: number;
  say(range: Range): { code: number; message: string; data?: unknown };
  /** Sends what is said with this status, and without an envelope. */
  status?: number;
}

let gate: ScriptedGateway;
let limits: Limits;
/** Ranges that the node was asked for. */
let asked: Range[];
/** A log in each block whose number can be divided by this. */
let each: number;

const toLogs = ({ from, to }: Range): object[] =>
  Array.from({ length: HEAD / each }, (_, n) => n * each)
    .filter((block) => from <= block && block <= to)
    .map((block) => ({
      blockNumber: hex(block),
      epochNumber: hex(block),
      logIndex: '0x0',
      data: '0x',
      topics: [],
      address: `0x${'aa'.repeat(20)}`,
      blockHash: `0x${'bb'.repeat(32)}`,
      transactionHash: `0x${'cc'.repeat(32)}`,
    }));

function answer([filter]: unknown[]): ScriptedAnswer {
  const { fromBlock, fromEpoch = fromBlock, toBlock, toEpoch = toBlock } = filter as Record<string, string>;
  const tags: Record<string, number> = { latest_checkpoint: 12_000, latest_state: HEAD };
  const toNumber = (bound = ''): number => tags[bound] ?? Number(bound);
  const range = { from: toNumber(fromEpoch), to: toNumber(toEpoch) };
  asked.push(range);
  const found = toLogs(range);
  const most = Number.POSITIVE_INFINITY;
  const isRefused =
    range.to - range.from + 1 > (limits.blocks ?? most) || found.length > (limits.logs ?? most);
  if (!isRefused) return { result: found };
  const error = limits.say(range);
  const { status } = limits;
  return status === undefined ? { error } : { status, body: JSON.stringify(error.message) };
}

beforeAll(async () => {
  gate = await startScriptedGateway([
    `id: main, family: evm, chainId: 1, finality: {tag: false, depth: ${HEAD}}`,
    'id: core, family: core, chainId: 1029',
  ]);
  gate.node.answer(({ method, params }) => {
    if (method.endsWith('_getLogs')) return answer(params);
    if (method === 'eth_chainId') return { result: '0x1' };
    if (method === 'cfx_epochNumber') return { result: hex(HEAD) };
    return { result: { number: hex(HEAD), hash: `0x${'1'.repeat(64)}`, parentHash: `0x${'2'.repeat(64)}` } };
  });
});
afterAll(() => gate?.close());
beforeEach(() => {
  forget();
  each = 10;
});

/** The learnt width, and the kept results. */
function forget(): void {
  asked = [];
  gate.at.time.offset += 600_000;
}

const getLogs = ({ from, to }: Range) =>
  gate.call('main', 'eth_getLogs', [{ fromBlock: hex(from), toBlock: hex(to) }]);

/** What nodes say to 4,096 blocks. */
const WIDE: [string, Limits][] = [
  [
    // hyperindex#605.
    'names the distance of the bounds beside its limit',
    {
      blocks: 500,
      say: ({ from, to }) => ({
        code: -32000,
        message: `block range is larger than max block range, block range = ${to - from}, max block range = 500`,
      }),
    },
  ],
  [
    'names the distance of the bounds alone',
    { blocks: 500, say: ({ from, to }) => ({ code: -32000, message: `block range exceeds: ${to - from}` }) },
  ],
  [
    // rindexer#327.
    'cannot complete the request',
    { blocks: 1_000, say: () => ({ code: -32001, message: 'Unable to complete request at this time.' }) },
  ],
  [
    // boba_legacy#827.
    'names its limit in the data of the error',
    {
      blocks: 2_000,
      say: ({ from, to }) => ({
        code: -32602,
        message: 'invalid params',
        data: { payload: `range ${to - from} is bigger than range limit 2000` },
      }),
    },
  ],
  [
    'names its limit in a bare text',
    { blocks: 1_000, status: 500, say: () => ({ code: 0, message: 'query exceeds max block range 1000' }) },
  ],
  ...[-32016, -32602].map((code): [string, Limits] => [
    // conflux-rust, whose gap is one less than the blocks.
    `names its gap, with ${code}`,
    {
      blocks: 1_001,
      say: ({ from, to }) => ({
        code,
        message: `The gap between from_block and to_block is larger than max_gap (from: ${from}, to: ${to}, max_gap: 1000)`,
      }),
    },
  ]),
  [
    // reth#23810.
    'names a range that is one block smaller',
    {
      logs: 100,
      say: ({ from, to }) => ({
        code: -32602,
        message: `query exceeds max results 100, retry with the range ${from}-${to - 1}`,
      }),
    },
  ],
  ['fails for wide ranges', { blocks: 1_000, say: () => ({ code: -32603, message: 'internal error' }) }],
];

describe('behind a node that', () => {
  it.each(WIDE)('%s, 4,096 blocks are whole after few questions', async (_, spoken) => {
    limits = spoken;
    for (const from of [3, 5_000]) {
      asked = [];
      expect((await getLogs({ from, to: from + 4_095 })).result).toEqual(toLogs({ from, to: from + 4_095 }));
      expect(asked.length).toBeLessThanOrEqual(32);
    }
  });

  it.each([
    ['an error that says nothing', { code: -32603, message: 'internal error' }],
    ['one that is about the range', { code: -32005, message: 'block range is too wide' }],
    ['one that seems to name a limit', { code: -32000, message: 'exceed maximum block range: 100' }],
  ])('fails always with %s, gives up after few questions, in its own words', async (_, error) => {
    limits = { blocks: 0, say: () => error };
    expect((await getLogs({ from: 3, to: 18_000 })).error).toEqual(error);
    expect(asked.length).toBeLessThanOrEqual(32);
  });

  it('refuses what is not about the range, is asked once', async () => {
    const error = { code: -32000, message: 'invalid block range params' };
    limits = { blocks: 100, say: () => error };
    expect((await getLogs({ from: 3, to: 4_000 })).error).toEqual(error);
    expect(asked).toHaveLength(1);
  });

  it('says whatever it likes, is asked 64 times at most, and all of it is answered or nothing', async () => {
    const word = fc.constantFrom(
      'block range',
      'max',
      'limit',
      'from:',
      'to',
      'results',
      'exceeds',
      '[0x1, 0x5]',
      '(',
    );
    const words = fc.array(fc.oneof(word, fc.nat(5_000).map(String)), { minLength: 1, maxLength: 8 });
    const error = fc.record({ code: fc.constantFrom(-32000, -32001, -32005, -32602, -32603, 35), words });
    await fc.assert(
      fc.asyncProperty(
        fc.array(error, { minLength: 1 }),
        fc.integer({ min: 1, max: 4_000 }),
        async (all, blocks) => {
          let turn = 0;
          const say = ({ from, to }: { from: number; to: number }) => {
            const { code, words } = all[turn++ % all.length] as (typeof all)[0];
            return { code, message: `${words.join(' ')} ${turn % 3 === 0 ? to - from : ''}` };
          };
          limits = { blocks, say };
          asked = [];
          forget();
          const { result, error } = await getLogs({ from: 0, to: 4_095 });
          expect(asked.length).toBeLessThanOrEqual(MOST_QUESTIONS);
          if (error === undefined) expect(result).toEqual(toLogs({ from: 0, to: 4_095 }));
        },
      ),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 50), endOnFailure: true },
    );
  });
});

describe('core_getLogs behind a node with a limit of epochs', () => {
  const getCoreLogs = (filter: object) => gate.call('core', 'core_getLogs', [filter]);
  const GAP: Limits = {
    blocks: 1_001,
    say: ({ from, to }) => ({
      code: -32016,
      message: `The gap between from_epoch and to_epoch is larger than max_gap (from: ${from}, to: ${to}, max_gap: 1000)`,
    }),
  };

  it.each([
    ['numbers', { fromEpoch: '0x64', toEpoch: hex(4_195) }, { from: 100, to: 4_195 }],
    ['a tag', { fromEpoch: hex(16_000), toEpoch: 'latest_state' }, { from: 16_000, to: HEAD }],
    ['bounds that are not given', {}, { from: 12_000, to: HEAD }],
  ])('is split to 1,000 epochs, by %s', async (_, filter, range) => {
    limits = GAP;
    expect((await getCoreLogs(filter)).result).toEqual(toLogs(range));
    expect(Math.max(...asked.slice(1).map(({ from, to }) => to - from + 1))).toBe(1_000);
    expect(asked.length).toBeLessThanOrEqual(10);
  });

  it('has its limit and offset applied to all of it', async () => {
    limits = GAP;
    const { result } = await getCoreLogs({
      fromEpoch: '0x0',
      toEpoch: hex(4_000),
      limit: '0x5',
      offset: '0x1',
    });
    expect(result).toEqual(toLogs({ from: 0, to: 4_000 }).slice(-6, -1));
  });

  it('passes on what is not about the range', async () => {
    const error = { code: -32602, message: 'invalid params' };
    limits = { blocks: 10, say: () => error };
    expect((await getCoreLogs({ fromEpoch: '0x0', toEpoch: hex(4_000) })).error).toEqual(error);
    expect(asked).toHaveLength(1);
  });
});
