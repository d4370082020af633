import { setMaxListeners } from 'node:events';
import { createProver, KINDS } from '@packhouse/chain';
import { createBlockSource } from '@packhouse/node-rpc';
import { generateChain, type RecordedBlock, type ReplayNodeOptions } from '@packhouse/replay-node';
import { createMetrics } from '@packhouse/runtime';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { ingest } from '../ingest/ingest.js';
import { makeWorld, type World } from '../testing/world.js';
import { QUOTE_CALLS, type Quote, type QuoteRequest, quote } from './quote.js';

const FIRST = 1_000;
const LENGTH = 120;
let world: World;
afterEach(() => world.close());

const all = { from: FIRST, to: FIRST + LENGTH - 1, kinds: KINDS };

/** Blocks of `few` transactions, then as many of `many`. */
function mixed(few: number, many: number): RecordedBlock[] {
  const options = { length: LENGTH / 2, logsPerTx: 2, tracesPerTx: 3 };
  const blocks = [...generateChain({ ...options, txsPerBlock: few, startNumber: FIRST })];
  const { number, block } = blocks.at(-1) as RecordedBlock;
  const after = { number, hash: block.hash, timestamp: Number(block.timestamp) };
  return [...blocks, ...generateChain({ ...options, txsPerBlock: many, after })];
}

const few = mixed(3, 3);

const open = async (...nodes: ReplayNodeOptions[]): Promise<void> => {
  world = await makeWorld(inject('postgresUrl'), nodes);
};

/** With a source and metrics of its own, as the command has them. */
async function quoted(request: QuoteRequest = all): Promise<Quote> {
  const { database, network } = world;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const context = { ...world.context, signal, metrics: createMetrics() };
  const source = createBlockSource({ network, context, maxCalls: QUOTE_CALLS });
  try {
    const prover = await createProver(network.proofs);
    return await quote({ context, database, network, source, prover }, request, signal);
  } finally {
    await source.close();
  }
}

/** The sum of a counter of the ingester's, over its series that fit. */
async function counted(name: string, fits: (labels: Record<string, unknown>) => boolean): Promise<number> {
  const metric = await world.context.metrics.registry.getSingleMetric(name)?.get();
  const values = metric?.values ?? [];
  return values.filter(({ labels }) => fits(labels)).reduce((sum, { value }) => sum + value, 0);
}

const asked = (): number => world.nodes.reduce((sum, node) => sum + node.stats().calls, 0);

describe('what the run then takes is what a quote says, within its interval', () => {
  test.each([
    ['small blocks', { few: 5, many: 5 }],
    ['empty blocks before full ones', { few: 0, many: 12 }],
  ])('%s', async (_, { few, many }) => {
    await open({ blocks: mixed(few, many) });
    const { asked: own, blocks, cost, standing } = await quoted();
    expect(asked()).toBe(own.calls);
    expect(own.calls).toBeLessThanOrEqual(QUOTE_CALLS);
    expect(own.sample.length).toBeGreaterThan(20);
    expect(blocks).toBe(LENGTH);
    expect(standing).toEqual(
      KINDS.map((kind) => ({ kind, published: 0, staged: 0, ordered: 0, missing: LENGTH })),
    );
    await world.want(all.from, all.to);
    await world.noteHead();
    await world.settle();
    const data = new Set(cost?.calls.map(({ method }) => method));
    const requests = await counted(
      'packhouse_upstream_requests_total',
      ({ method, outcome }) => data.has(String(method)) && outcome === 'ok',
    );
    const bytes = await counted('packhouse_ingested_bytes_total', () => true);
    let stored = 0;
    for (const kind of KINDS) stored += (await world.database.network('main').bundles.totals(kind)).bytes;
    expect((cost?.requests.value ?? 0) / requests).toBeCloseTo(1, 1);
    const { low = 0, high = 0 } = cost?.bytesIn ?? {};
    expect([bytes >= low, bytes <= high], `${low} to ${high} for ${bytes}`).toEqual([true, true]);
    const { low: least = 0, high: most = 0 } = cost?.bytesStored ?? {};
    expect([stored >= least, stored <= most], `${least} to ${most} for ${stored}`).toEqual([true, true]);
  });
});

test('what is staged, and what else is wanted, is said and not counted; blocks with fewer kinds missing cost less', async () => {
  await open({ blocks: few });
  const database = world.database.network('main');
  await database.backfills.add(
    { kinds: ['blocks', 'receipts'], from: FIRST, to: FIRST + 59, priority: 1 },
    'test',
  );
  await ingest(
    world.parts,
    { firstBlock: FIRST, lastBlock: FIRST + 23, kinds: ['blocks', 'receipts'] },
    world.context.signal,
  );
  const { blocks, cost, standing } = await quoted({ ...all, kinds: ['receipts', 'traces'] });
  expect(blocks).toBe(LENGTH);
  expect(standing).toEqual([
    { kind: 'receipts', published: 0, staged: 24, ordered: 36, missing: LENGTH - 60 },
    { kind: 'traces', published: 0, staged: 0, ordered: 0, missing: LENGTH },
  ]);
  const requests = (method: string): number =>
    cost?.calls.find((each) => each.method === method)?.requests.value ?? 0;
  expect(requests('eth_getBlockByNumber')).toBe(LENGTH);
  expect(requests('eth_getBlockReceipts') / (LENGTH - 60)).toBeCloseTo(1, 1);
});

test('calls are those of the node that serves the blocks: one that lacks a kind is left out', async () => {
  const blocks = few;
  await open({ blocks, capabilities: { traceBlock: false, debugFlat: false, debugCall: false } }, { blocks });
  const { cost, lacking } = await quoted();
  expect(lacking).toEqual([]);
  expect(new Set(cost?.calls.map(({ upstream }) => upstream))).toEqual(new Set(['node-2']));
  const { cost: without } = await quoted({ ...all, kinds: ['blocks'] });
  expect(without?.calls).toMatchObject([{ upstream: 'node-1', requests: { value: LENGTH } }]);
});

test('receipts of one transaction each are counted, and refused if the calls do not do', async () => {
  const single = { receiptsByBlock: false };
  const chain = (txsPerBlock: number) => generateChain({ length: 30, txsPerBlock, startNumber: FIRST });
  await open({ blocks: chain(4), capabilities: single });
  const kinds = ['logs'] as const;
  const { asked: own, cost } = await quoted({ ...all, to: FIRST + 29, kinds });
  expect(own.calls).toBeLessThanOrEqual(QUOTE_CALLS);
  const receipts = cost?.calls.find(({ method }) => method === 'eth_getTransactionReceipt');
  expect((receipts?.requests.value ?? 0) / 30).toBeGreaterThan(1.5);
  await world.close();
  await open({ blocks: chain(60), capabilities: single });
  await expect(quoted({ ...all, to: FIRST + 29, kinds })).rejects.toMatchObject({ code: 'CALLS_SPENT' });
  expect(asked()).toBeLessThanOrEqual(QUOTE_CALLS);
});

test('a block of the sample that no node gives ends the quote with its reason', async () => {
  const gone = { do: 'nullReceipts' } as const;
  await open({ blocks: few, faults: [gone] });
  await expect(quoted({ ...all, kinds: ['logs'] })).rejects.toMatchObject({
    code: expect.stringMatching(/^NODE_ANSWER|BLOCKS_UNAVAILABLE/),
  });
});
