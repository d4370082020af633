import { createProver, type Prover } from '@packhouse/chain';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedAnswer, ScriptedNode } from '../testing/scripted-node.js';

const HEAD = 16;
const ADDRESS = `0x${'ab'.repeat(20)}`;
const OTHER = `0x${'cd'.repeat(20)}`;
const TOPIC = `0x${'ef'.repeat(32)}`;
const HASH = `0x${'12'.repeat(32)}`;
const quantity = (number: number): string => `0x${number.toString(16)}`;
const log = (number: number) => ({
  blockNumber: quantity(number),
  blockHash: HASH,
  logIndex: '0x0',
  address: ADDRESS,
  topics: [TOPIC],
  data: '0x',
});

let bloom: string;
const NO_BLOOM = `0x${'0'.repeat(512)}`;
beforeAll(async () => {
  const prover: Prover = await createProver({ chainId: 1 } as Parameters<typeof createProver>[0]);
  bloom = `0x${Buffer.from(prover.getBloom([{ address: ADDRESS, topics: [TOPIC] }])).toString('hex')}`;
});

/** A gateway before nodes that all tell of block HEAD, and what they say of its logs and its header. */
function gatewayTo(nodes: number) {
  const at = {} as {
    gate: ScriptedGateway;
    logs: unknown[];
    header: object;
    more: (node: number) => ScriptedAnswer | undefined;
  };
  beforeAll(async () => {
    at.gate = await startScriptedGateway(['id: main, family: evm, chainId: 1'], { nodes });
    at.gate.nodes.forEach((node, which) => {
      node.answer(({ method, params }) => {
        if (method === 'eth_chainId') return { result: '0x1' };
        if (method === 'eth_getLogs') return at.more(which) ?? { result: at.logs[which] };
        const number = params[0] === 'finalized' ? '0x1' : quantity(HEAD);
        const isWatched = params[0] === 'latest' || params[0] === 'finalized';
        if (isWatched) return { result: { number, hash: HASH } };
        // The header of whichever block is asked for.
        return { result: params[0] === HASH ? at.header : { ...at.header, number: params[0] } };
      });
    });
    await vi.waitFor(
      async () => {
        const { text } = await ask(at.gate.at.url, '/metrics');
        for (let n = 1; n <= nodes; n++) {
          expect(text).toMatch(
            new RegExp(`packhouse_upstream_head_block\\S*upstream="node-${n}"\\S* ${HEAD}\\n`),
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
    at.more = () => undefined;
  });
  return at;
}

/** Filters, and the newest blocks that they are about. */
const filters: [string, object, number[]][] = [
  ['the newest block by its number', { fromBlock: quantity(HEAD), toBlock: quantity(HEAD) }, [HEAD]],
  ['the newest block by its tag', {}, [HEAD]],
  ['a range to the newest block', { fromBlock: '0x5', toBlock: quantity(HEAD) }, [14, 15, HEAD]],
  ['a range to the tag', { fromBlock: '0x5' }, [14, 15, HEAD]],
  ['the block before it', { fromBlock: quantity(HEAD - 1), toBlock: quantity(HEAD - 1) }, [15]],
  ['a block by its hash', { blockHash: HASH }, [HEAD]],
];
const [[, NEWEST]] = filters as [[string, object, number[]]];

describe('of two nodes that tell of a block', () => {
  const at = gatewayTo(2);
  const header = (logsBloom?: string, transactions: unknown[] = [HASH]) => ({
    number: quantity(HEAD),
    hash: HASH,
    logsBloom,
    transactions,
  });
  const asked = (): number[] => at.gate.nodes.map((node) => at.gate.asked('eth_getLogs', node).length);
  const get = async (filter: object, address = ADDRESS): Promise<unknown> =>
    (await at.gate.call('main', 'eth_getLogs', [{ ...filter, address, topics: [TOPIC] }])).result;

  describe.each(filters)('%s', (_, filter, blocks) => {
    it.each<[string, () => object]>([
      ['its bloom has them', () => header(bloom)],
      ['every bloom is zero', () => header(NO_BLOOM)],
      ['the header has no bloom', () => header()],
    ])('the second is asked where the first has no logs of it and %s', async (__, build) => {
      at.header = build();
      const right = blocks.map(log);
      at.logs = [[], right];
      expect(await get(filter)).toEqual(right);
      expect(asked()).toEqual([1, 1]);
    });

    it.each<[string, () => object]>([
      ['its bloom excludes them', () => header(bloom)],
      ['it has no transactions', () => header(NO_BLOOM, [])],
    ])('nobody else is asked where %s', async (__, build) => {
      at.header = build();
      at.logs = [[], blocks.map(log)];
      expect(await get(filter, OTHER)).toEqual([]);
      expect(asked()).toEqual([1, 0]);
    });

    it('nobody else is asked where the first has logs of all of them', async () => {
      at.header = header(bloom);
      at.logs = [blocks.map(log), []];
      expect(await get(filter)).toEqual(at.logs[0]);
      expect(asked()).toEqual([1, 0]);
    });

    it('none are told where both say so', async () => {
      at.header = header(bloom);
      at.logs = [[], []];
      expect(await get(filter)).toEqual([]);
      expect(asked()).toEqual([1, 1]);
    });
  });

  it('the second is asked where the first has logs of the blocks before alone', async () => {
    at.header = header(bloom);
    const right = [log(5), log(HEAD)];
    at.logs = [[log(5)], right];
    expect(await get({ fromBlock: '0x5', toBlock: quantity(HEAD) })).toEqual(right);
  });

  it('what the first says is told where the second fails', async () => {
    at.header = header(bloom);
    at.logs = [[], []];
    at.more = (which) => (which === 1 ? 'reset' : undefined);
    expect(await get(NEWEST)).toEqual([]);
  });

  it('nothing is checked of older blocks', async () => {
    at.header = header(bloom);
    at.logs = [[], [log(5)]];
    expect(await get({ fromBlock: '0x2', toBlock: quantity(HEAD - 3) })).toEqual([]);
    expect(asked()).toEqual([1, 0]);
  });

  it('the header of a block is asked for once, for all filters', async () => {
    at.header = header(bloom);
    at.logs = [[], []];
    const block = NEWEST;
    for (let n = 0; n < 5; n++) await get(block, `0x${'0'.repeat(39)}${n}`);
    const headers = at.gate.nodes.flatMap((node: ScriptedNode) =>
      at.gate.asked('eth_getBlockByNumber', node),
    );
    expect(headers.filter(([first]) => first === quantity(HEAD))).toHaveLength(1);
  });
});

describe('of one node', () => {
  const at = gatewayTo(1);
  const block = { fromBlock: quantity(HEAD), toBlock: quantity(HEAD), address: ADDRESS };
  const get = async (): Promise<unknown> => (await at.gate.call('main', 'eth_getLogs', [block])).result;
  const asked = (): number => at.gate.asked('eth_getLogs').length;

  it('it is asked once more where a bloom has what it does not', async () => {
    at.header = { number: quantity(HEAD), hash: HASH, logsBloom: bloom, transactions: [HASH] };
    at.logs = [[log(HEAD)]];
    at.more = () => (asked() === 1 ? { result: [] } : undefined);
    expect(await get()).toEqual([log(HEAD)]);
    expect(asked()).toBe(2);
  });

  it.each<[string, ScriptedAnswer | undefined]>([
    ['says the same', undefined],
    ['fails', 'reset'],
  ])('what it said is told where it then %s', async (_, then) => {
    at.header = { number: quantity(HEAD), hash: HASH, logsBloom: bloom, transactions: [HASH] };
    at.logs = [[]];
    at.more = () => (asked() === 1 ? undefined : then);
    expect(await get()).toEqual([]);
    expect(asked()).toBe(2);
  });

  it('it is believed where no bloom tells', async () => {
    at.header = { number: quantity(HEAD), hash: HASH };
    at.logs = [[]];
    expect(await get()).toEqual([]);
    expect(asked()).toBe(1);
  });
});
