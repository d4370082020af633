import { setImmediate as nextTurn } from 'node:timers/promises';
import { KINDS } from '@packhouse/chain';
import type { Upstream } from '@packhouse/networks';
import { type BlockSource, createBlockSource } from '@packhouse/node-rpc';
import {
  createGarblingNode,
  type Garble,
  type GarblingNode,
  type GarblingScript,
} from '@packhouse/replay-node';
import { type Clock, isPackhouseError, systemClock } from '@packhouse/runtime';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { extractRuns } from './extract.js';
import { ingest } from './ingest.js';

const NASTY = [
  'null',
  'true',
  '0',
  '-1',
  '1e999',
  '9007199254740993',
  '123456789012345678901234567890',
  '""',
  '"0x"',
  '"0x0"',
  '"-0x1"',
  '"NaN"',
  '"0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"',
  '"\\u0000\\ud800"',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toJSON":"x","toString":1,"valueOf":null,"length":4294967295}',
  '{"hash":{},"number":[],"transactions":{"length":2}}',
  `${'['.repeat(4_000)}${']'.repeat(4_000)}`,
  `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
  `"${'a'.repeat(100_000)}"`,
  `"0x${'f'.repeat(99_999)}"`,
];
const BODIES = [
  '',
  'null',
  '[]',
  '[null]',
  '[{}]',
  '{}',
  'NaN',
  '[NaN]',
  '{"result":NaN}',
  '{"jsonrpc":"2.0","id":1,"result":Infinity}',
  '{"jsonrpc":"2.0","id":null,"error":null}',
  '{"jsonrpc":"2.0","id":1}',
  '<html></html>',
  '\ufeff{}',
  '"text"',
  '{"jsonrpc":"2.0","id":1,"result":{"a":1}',
  '\u0000'.repeat(64),
];

const json = fc.oneof(fc.constantFrom(...NASTY), fc.json({ maxDepth: 3 }));
const path = fc.array(fc.nat(12), { maxLength: 5 });
const garble: fc.Arbitrary<Garble> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ how: fc.constant('value' as const), path, json }) },
  { weight: 2, arbitrary: fc.record({ how: fc.constant('remove' as const), path }) },
  { weight: 2, arbitrary: fc.record({ how: fc.constant('result' as const), json }) },
  { weight: 1, arbitrary: fc.record({ how: fc.constant('error' as const), json }) },
  {
    weight: 1,
    arbitrary: fc.record({
      how: fc.constant('ids' as const),
      form: fc.constantFrom(...(['missing', 'same', 'text', 'negative', 'huge'] as const)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      how: fc.constant('items' as const),
      form: fc.constantFrom(...(['twice', 'dropped', 'reversed', 'null', 'wrapped'] as const)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      how: fc.constant('body' as const),
      text: fc.oneof(fc.constantFrom(...BODIES), fc.string({ maxLength: 40 })),
    }),
  },
);

/** Faults of a node, one or a few at once. */
const scripts: fc.Arbitrary<GarblingScript[]> = fc.array(
  fc.record({
    garble,
    method: fc.constantFrom(
      'eth_getBlockByNumber',
      'eth_getBlockReceipts',
      'eth_getTransactionReceipt',
      'trace_block',
      'debug_traceBlockByHash',
      'eth_chainId',
    ),
    after: fc.nat(2),
    times: fc.constantFrom(1, 2, 1_000),
  }),
  { minLength: 1, maxLength: 3 },
);

/** The first of a segment. */
const FIRST = 1_024;
const LENGTH = 6;
const WINDOW = { firstBlock: FIRST, lastBlock: FIRST + LENGTH - 1 };
const blocks = chainFrom(FIRST, LENGTH);
/** Which member of a block they are. */
const TRANSACTIONS = Object.keys(blocks[0]?.block ?? {}).indexOf('transactions');
const hashes = blocks.map((block) => block.block.hash);

let world: World;
let node: GarblingNode;
beforeEach(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks }]);
  node = await createGarblingNode(world.nodes[0]?.url ?? '');
});
afterEach(async () => {
  await node.close();
  await world.close();
});

/** A clock that advances at once when a caller sleeps. */
function hastyClock(): Clock {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    elapsed: () => systemClock.elapsed() + ahead,
    sleep: async (ms, signal) => {
      if (signal?.aborted === true) throw signal.reason;
      ahead += ms;
      await nextTurn();
    },
  };
}

/** A pool of the garbling node alone, as a process that has just started has it. */
async function withSource<T>(use: (source: BlockSource) => Promise<T>): Promise<T> {
  const upstreams = world.network.upstreams.map((upstream) => ({ ...upstream, url: node.url }));
  const source = createBlockSource({
    network: { ...world.network, upstreams },
    context: { ...world.context, clock: hastyClock() },
    timeoutMs: 2_000,
  });
  try {
    return await use(source);
  } finally {
    await source.close();
  }
}

test('whatever a node answers, each block is had and right, or a failure in its place', async () => {
  const check = async (played: GarblingScript[]): Promise<void> => {
    node.play(played);
    const { runs, failures } = await withSource((source) =>
      extractRuns({ ...world.parts, source }, { ...WINDOW, kinds: KINDS }, world.context.signal),
    );
    const had = runs.flatMap((run) => run.blocks);
    for (const { hash, number } of had) expect(hash).toBe(hashes[number - FIRST]);
    const numbers = [...had, ...failures].map(({ number }) => number).sort((a, b) => a - b);
    expect(numbers).toEqual(blocks.map((block) => block.number));
    for (const { error, tried } of failures) {
      expect(error).toBeInstanceOf(Error);
      expect(isPackhouseError(error) ? '' : String(error.stack)).toBe('');
      expect(JSON.stringify(tried).length).toBeLessThan(4_000);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  };
  await fc.assert(fc.asyncProperty(scripts, check), { numRuns: 150, endOnFailure: false });
});

test('whatever a node answers, a job ends by itself, nothing wrong is staged, and once it is honest nothing is missing', async () => {
  const { database } = world;
  const { signal } = world.context;
  await world.want(WINDOW.firstBlock, WINDOW.lastBlock);
  await world.noteHead();
  const everything = { firstBlock: 0, lastBlock: 9_999 };
  const staged = async (): Promise<(string | undefined)[]> =>
    (await database.network('main').staging.blocks(everything)).map(({ hash }) => hash);
  const check = async (played: GarblingScript[]): Promise<void> => {
    await database.network('main').staging.abandon(FIRST);
    await database.network('main').quarantine.settle(everything, KINDS);
    node.play(played);
    for (const attempt of [1, 3]) {
      const error = await withSource((source) =>
        ingest({ ...world.parts, source }, { ...WINDOW, kinds: KINDS }, signal, attempt),
      ).then(
        () => null,
        (caught: unknown) => caught,
      );
      if (error !== null) expect(isPackhouseError(error) ? '' : String((error as Error).stack)).toBe('');
    }
    for (const hash of await staged()) expect(hashes).toContain(hash);
    node.play([]);
    await database.network('main').quarantine.retry(everything);
    await withSource((source) => ingest({ ...world.parts, source }, { ...WINDOW, kinds: KINDS }, signal, 1));
    expect(await staged()).toEqual(hashes);
    for (const kind of KINDS)
      expect((await database.network('main').coverage(kind)).staged).toEqual([WINDOW]);
    expect(await database.network('main').quarantine.list()).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(scripts, check), { numRuns: 25, endOnFailure: false });
});

test.each([
  ['eth_getBlockByNumber', [TRANSACTIONS, 1, 0]],
  ['eth_getBlockReceipts', [1, 0]],
  ['trace_block', [1, 0]],
])(
  'blocks whose %s is found to be no JSON when they are proved come from the next node',
  async (method, path) => {
    const garbling = {
      ...(world.network.upstreams[0] as Upstream),
      name: 'garbling',
      url: node.url,
      priority: 0,
    };
    const upstreams = [garbling, ...world.network.upstreams];
    const source = createBlockSource({ network: { ...world.network, upstreams }, context: world.context });
    const again = vi.spyOn(source, 'fetchBlock');
    // A member of the second transaction, receipt or trace: nobody looks at it before.
    node.play([{ garble: { how: 'value', path, json: '0x1' }, method, after: 0, times: 1_000 }]);
    try {
      const window = { ...WINDOW, kinds: KINDS };
      const { runs, failures } = await extractRuns({ ...world.parts, source }, window, world.context.signal);
      expect(failures).toEqual([]);
      expect(runs.flatMap((run) => run.blocks).map(({ hash }) => hash)).toEqual(hashes);
      expect(again.mock.calls.map(([number, , options]) => [number, options?.avoid])).toEqual(
        blocks.map(({ number }) => [number, ['garbling']]),
      );
      expect(source.status()[0]).toMatchObject({ name: 'garbling', healthy: false });
    } finally {
      await source.close();
    }
  },
);
