import { parseNetworks } from '@packhouse/networks';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedAnswer, type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const HEAD = 20_000;
const SAFE = 15_000;
const MAX_LOGS = 500;
const MAX_BYTES = 200_000;
/** To nodes, for one call. */
const MOST_QUESTIONS = 64;
const HASH = `0x${'bb'.repeat(32)}`;
const hex = (n: number): string => `0x${n.toString(16)}`;

interface Log {
  blockNumber: string;
  logIndex: string;
  data: string;
  address: string;
  blockHash: string;
  transactionHash: string;
}
interface Answered {
  result?: Log[];
  error?: {
    code: number;
    message: string;
    data: { reason?: string; suggestedRange?: { fromBlock: string; toBlock: string } };
  };
}

/** A node's limits of blocks, logs and bytes, with its error texts. */
interface Limits {
  blocks?: number;
  logs?: number;
  bytes?: number;
  say(range: { from: number; to: number }): { code: number; message: string };
}
const NONE: Limits = { say: () => ({ code: 0, message: '' }) };

let node: ScriptedNode;
let at: TestGateway;
let key: string;
let limits: Limits;
/** Logs of each block that has any. */
let logs: Map<number, Log[]>;
/** Ranges that the node was asked for. */
let asked: { from: number; to: number }[];

function setLogs(counts: Iterable<[number, number]>, bytes = 4): void {
  logs = new Map(
    [...counts].map(([block, count]) => [
      block,
      Array.from({ length: count }, (_, n) => ({
        blockNumber: hex(block),
        logIndex: hex(n),
        data: `0x${'00'.repeat(bytes)}`,
        address: `0x${'aa'.repeat(20)}`,
        blockHash: HASH,
        transactionHash: HASH,
      })),
    ]),
  );
}

function toLogs(from: number, to: number): Log[] {
  const blocks = [...logs.keys()].filter((block) => from <= block && block <= to).sort((a, b) => a - b);
  return blocks.flatMap((block) => logs.get(block) as Log[]);
}

function answer(params: unknown[]): ScriptedAnswer {
  const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
  const resolveTag = (text: string): number =>
    ({ latest: HEAD, pending: HEAD, safe: SAFE })[text] ?? Number(text);
  const range = { from: resolveTag(fromBlock), to: resolveTag(toBlock) };
  asked.push(range);
  const found = toLogs(range.from, range.to);
  const tooWide = range.to - range.from + 1 > (limits.blocks ?? Number.POSITIVE_INFINITY);
  const tooMany = found.length > (limits.logs ?? Number.POSITIVE_INFINITY);
  const tooLarge = JSON.stringify(found).length > (limits.bytes ?? Number.POSITIVE_INFINITY);
  return tooWide || tooMany || tooLarge ? { error: limits.say(range) } : { result: found };
}

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method, params }) => {
    if (method === 'eth_getLogs') return answer(params);
    const number = hex(params[0] === 'safe' ? SAFE : HEAD);
    return { result: { number, hash: `0x${'1'.repeat(64)}`, parentHash: `0x${'2'.repeat(64)}` } };
  });
  await start();
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});
beforeEach(() => {
  limits = NONE;
  asked = [];
  // The learnt width is forgotten, and the kept results were of other logs.
  at.time.offset += 600_000;
  setLogs([]);
});

async function start(): Promise<void> {
  const networks = parseNetworks(
    `networks:
  - id: main
    family: evm
    chainId: 1
    finality: {tag: false, depth: ${HEAD}}
    rpc: {maxLogs: ${MAX_LOGS}, maxAnswerBytes: ${MAX_BYTES}}
    upstreams: [{url: '${node.url}'}]`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
  const deadline = Date.now() + 60_000;
  while (!(await at.context.metrics.render()).includes('head_block{network="main"')) {
    expect(Date.now()).toBeLessThan(deadline);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function getLogs(filter: object, url = at.url, as = key): Promise<Answered> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] });
  const headers = { 'content-type': 'application/json' };
  return (await ask(url, `/main/v1/${as}`, { method: 'POST', body, headers })).json() as Answered;
}
const range = (from: number, to: number) => ({ fromBlock: hex(from), toBlock: hex(to) });

const WORDS: [string, Limits][] = [
  [
    'names its limit of blocks',
    { blocks: 100, say: () => ({ code: -32614, message: 'eth_getLogs is limited to a 100 range' }) },
  ],
  [
    'names it in other words',
    {
      blocks: 128,
      say: () => ({
        code: -32000,
        message: 'requested too many blocks from 0 to 4096, maximum is set to 128',
      }),
    },
  ],
  [
    'says only that the range is too wide',
    { blocks: 90, say: () => ({ code: -32600, message: 'block range is too wide' }) },
  ],
  [
    'says it by a code for limits',
    { blocks: 70, say: () => ({ code: -32005, message: 'Requested range exceeds maximum RPC range limit' }) },
  ],
  [
    'counts results',
    { logs: 40, say: () => ({ code: -32005, message: 'query returned more than 40 results' }) },
  ],
  [
    'counts results and names a range',
    {
      logs: 40,
      say: ({ from, to }) => ({
        code: -32602,
        message: `query exceeds max results 40, retry with the range ${from}-${Math.floor((from + to) / 2)}`,
      }),
    },
  ],
  [
    'counts bytes and names a range in hex',
    {
      bytes: 6_000,
      say: ({ from, to }) => ({
        code: -32602,
        message: `Log response size exceeded. this block range should work: [${hex(from)}, ${hex(Math.floor((from + to) / 2))}]`,
      }),
    },
  ],
  ['takes too long', { logs: 30, say: () => ({ code: -32000, message: 'query timeout exceeded' }) }],
  [
    'takes too long, by a code for timeouts',
    { logs: 30, say: () => ({ code: -32002, message: 'query timeout exceeded' }) },
  ],
  // With the code for exceeded rates, so that they could be mistaken for those.
  ['says only a code for limits', { blocks: 60, say: () => ({ code: -32005, message: 'limit exceeded' }) }],
  ['counts bytes', { bytes: 6_000, say: () => ({ code: -32005, message: 'response is too big' }) }],
  ['counts events', { logs: 40, say: () => ({ code: -32005, message: 'query exceeds max events 40' }) }],
];

describe('behind a node that', () => {
  it.each(WORDS)('%s, gives what an unlimited node gives', async (_, spoken) => {
    setLogs(Array.from({ length: 400 }, (__, n) => [n * 10, 1]));
    limits = spoken;
    const { result } = await getLogs(range(3, 1_700));
    expect(result).toEqual(toLogs(3, 1_700));
  });

  it('has a limit, is asked within it from then on, until it is forgotten', async () => {
    limits = { blocks: 100, say: () => ({ code: -32614, message: 'eth_getLogs is limited to a 100 range' }) };
    const refused = (): number => asked.filter(({ from, to }) => to - from + 1 > 100).length;
    await getLogs(range(1, 1_000));
    expect(refused()).toBe(1);
    await getLogs(range(2_001, 3_000));
    expect(refused()).toBe(1);
    at.time.offset += 600_000;
    await getLogs(range(4_001, 5_000));
    expect(refused()).toBe(2);
  });

  it('is asked for each part once, in no more pieces than its limit needs', async () => {
    limits = { blocks: 100, say: () => ({ code: -32614, message: 'eth_getLogs is limited to a 100 range' }) };
    await getLogs(range(1, 1_000));
    const pieces = asked.filter(({ from, to }) => to - from < 100).sort((a, b) => a.from - b.from);
    expect(pieces).toEqual(Array.from({ length: 10 }, (_, n) => ({ from: n * 100 + 1, to: n * 100 + 100 })));
  });

  it('refuses a single block, says so in its own words', async () => {
    const error = { code: -32005, message: 'query returned more than 5 results' };
    limits = { logs: 5, say: () => error };
    setLogs([[7, 6]]);
    expect((await getLogs(range(1, 100))).error).toEqual(error);
  });

  it('is asked for `latest` and beyond the head as the client wrote it', async () => {
    for (const toBlock of ['latest', '0xffffff', '0xffffffffffffffff']) {
      expect((await getLogs({ fromBlock: hex(HEAD - 10), toBlock })).result).toEqual([]);
      const last = node.calls.filter(({ method }) => method === 'eth_getLogs').at(-1);
      expect(last?.params).toMatchObject([{ toBlock }]);
    }
    limits = { blocks: 5, say: () => ({ code: -32614, message: 'eth_getLogs is limited to a 5 range' }) };
    setLogs([[HEAD, 1]]);
    expect((await getLogs({ fromBlock: hex(HEAD - 10), toBlock: '0xffffff' })).result).toEqual(
      toLogs(0, HEAD),
    );
  });
});

describe('a range whose bounds are the nodes’ to say', () => {
  const sentEnds = (): unknown[] =>
    node.calls
      .filter(({ method }) => method === 'eth_getLogs')
      .slice(-asked.length)
      .map(({ params }) => (params[0] as { toBlock: string }).toBlock);
  const narrow: Limits = {
    blocks: 100,
    say: () => ({ code: -32614, message: 'eth_getLogs is limited to a 100 range' }),
  };

  it.each([
    ['a number', hex(HEAD - 450), 'pending', [HEAD - 450, HEAD]],
    ['a number', hex(SAFE - 450), 'safe', [SAFE - 450, SAFE]],
    ['`safe`', 'safe', hex(SAFE + 450), [SAFE, SAFE + 450]],
    ['`latest`', 'latest', 'pending', [HEAD, HEAD]],
    ['a number beyond the head', hex(HEAD + 1), '0xffffffff', [HEAD + 1, HEAD + 1]],
  ])('is split where it goes from %s %s to %s', async (_, fromBlock, toBlock, [from, to]) => {
    setLogs(Array.from({ length: HEAD / 10 }, (__, n) => [n * 10 + 10, 1]));
    limits = narrow;
    expect((await getLogs({ fromBlock, toBlock })).result).toEqual(toLogs(from as number, to as number));
    // The client's own name of the end is sent with the last part.
    if (!toBlock.startsWith('0x')) expect(sentEnds()).toContain(toBlock);
  });

  it.each(['pending', 'safe'])('is refused with a suggestion where %s ends too much', async (toBlock) => {
    setLogs(Array.from({ length: 300 }, (_, n) => [SAFE - 300 + n, 5]));
    const { error } = await getLogs({ fromBlock: hex(SAFE - 300), toBlock });
    expect(error).toMatchObject({ code: -32005, data: { reason: 'too-many-logs' } });
    const suggested = error?.data.suggestedRange as { fromBlock: string; toBlock: string };
    expect((await getLogs(suggested)).result).toEqual(toLogs(SAFE - 300, Number(suggested.toBlock)));
  });

  it('is split also while no node has told its head', async () => {
    const other = await startScriptedNode();
    let [mute, looks] = [true, 0];
    other.answer(({ method, params }) => {
      if (method === 'eth_getLogs') return answer(params);
      if (method === 'eth_getBlockByNumber') looks += 1;
      if (mute) return { error: { code: -32000, message: 'not yet' } };
      return {
        result: { number: hex(HEAD), hash: `0x${'1'.repeat(64)}`, parentHash: `0x${'2'.repeat(64)}` },
      };
    });
    const networks = parseNetworks(
      `networks:\n  - {id: main, family: evm, chainId: 1, pollIntervalMs: 5000, upstreams: [{url: '${other.url}'}]}`,
      { source: 'test', env: {} },
    );
    const gateway = await startTestGateway({ networks });
    try {
      const mine = (await gateway.makeKey()).key;
      await expect.poll(() => looks, { timeout: 60_000 }).toBeGreaterThan(0);
      // Its head is asked for again in five seconds.
      mute = false;
      limits = narrow;
      setLogs(Array.from({ length: 45 }, (_, n) => [HEAD - 450 + n * 10, 1]));
      const { result } = await getLogs({ fromBlock: hex(HEAD - 450), toBlock: 'latest' }, gateway.url, mine);
      expect(result).toEqual(toLogs(HEAD - 450, HEAD));
    } finally {
      await gateway.close();
      await other.close();
    }
  });
});

describe('what is too much', () => {
  const follow = async (from: number, to: number): Promise<Log[]> => {
    const all: Log[] = [];
    for (let next = from; next <= to; ) {
      const whole = await getLogs(range(next, to));
      if (whole.result !== undefined) return [...all, ...whole.result];
      const suggested = whole.error?.data.suggestedRange;
      expect(whole.error).toMatchObject({ code: -32005, data: { reason: 'too-many-logs' } });
      expect(Number(suggested?.fromBlock)).toBe(next);
      const part = await getLogs(suggested as object);
      expect(part.error).toBeUndefined();
      all.push(...(part.result as Log[]));
      next = Number(suggested?.toBlock) + 1;
    }
    return all;
  };

  it('leads by its suggestions through all of it: too many logs', async () => {
    setLogs(Array.from({ length: 300 }, (_, n) => [n * 3, 5]));
    expect(await follow(0, 1_000)).toEqual(toLogs(0, 1_000));
  });

  it('leads by its suggestions through all of it: too many bytes', async () => {
    setLogs(
      Array.from({ length: 300 }, (_, n) => [n * 3, 1]),
      1_000,
    );
    expect(await follow(0, 1_000)).toEqual(toLogs(0, 1_000));
  });

  it('leads by its suggestions through all of it: too many blocks', async () => {
    setLogs(Array.from({ length: 300 }, (_, n) => [n * 60, 1]));
    limits = { blocks: 10, say: () => ({ code: -32000, message: 'exceed maximum block range: 10' }) };
    const { error } = await getLogs(range(0, HEAD));
    // It asked a few times, not for thousands of pieces.
    expect(asked.length).toBeLessThan(30);
    expect((await getLogs(error?.data.suggestedRange as object)).error).toBeUndefined();
  });

  it('has no suggestion where one block alone has too many', async () => {
    setLogs([[5, MAX_LOGS + 1]]);
    const { error } = await getLogs(range(5, 10));
    expect(error).toMatchObject({
      code: -32005,
      message: expect.stringContaining('fewer addresses or topics'),
    });
    expect(error?.data.suggestedRange).toBeUndefined();
    expect((await getLogs(range(1, 10))).error?.data.suggestedRange).toEqual(range(1, 4));
  });
});

it('is the answer of an unlimited node or a suggestion that succeeds, whatever the limits and the logs', async () => {
  const limit = fc.record({
    blocks: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
    logs: fc.option(fc.integer({ min: 20, max: 200 }), { nil: undefined }),
    words: fc.constantFrom(...WORDS.map(([, { say }]) => say)),
  });
  const counts = fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 1, max: 20 })), {
    maxLength: 120,
  });
  const bounds = fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 2_000 }));
  await fc.assert(
    fc.asyncProperty(limit, counts, bounds, async ({ words, ...numbers }, some, ends) => {
      const [from, to] = [Math.min(...ends), Math.max(...ends)];
      setLogs(some);
      limits = { blocks: numbers.blocks, logs: numbers.logs, say: words } as Limits;
      at.time.offset += 600_000;
      asked = [];
      const { result, error } = await getLogs(range(from, to));
      const questions = asked.length;
      expect(questions).toBeLessThanOrEqual(MOST_QUESTIONS);
      if (result !== undefined) {
        expect(result).toEqual(toLogs(from, to));
        return;
      }
      // Too many logs, or parts: half of the limit is what is found where none is named.
      const parts = (to - from + 1) / Math.ceil((numbers.blocks ?? Number.POSITIVE_INFINITY) / 2);
      expect(toLogs(from, to).length > MAX_LOGS || parts + questions > MOST_QUESTIONS / 2).toBe(true);
      const suggested = error?.data.suggestedRange as { fromBlock: string; toBlock: string };
      const part = await getLogs(suggested);
      expect(part.result).toEqual(toLogs(Number(suggested.fromBlock), Number(suggested.toBlock)));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 100), endOnFailure: true },
  );
});
