import { setMaxListeners } from 'node:events';
import { createProver, KINDS } from '@packhouse/chain';
import { createBlockSource } from '@packhouse/node-rpc';
import { generateChain, type RecordedBlock, type ReplayNodeOptions } from '@packhouse/replay-node';
import { createMetrics } from '@packhouse/runtime';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { makeWorld, type World } from '../testing/world.js';
import { QUOTE_CALLS, type Quote, type QuoteRequest, quote } from './quote.js';

const FIRST = 1_000;
const LENGTH = 240;
let world: World;
afterEach(() => world.close());

const all = { start: FIRST, end: FIRST + LENGTH - 1, kinds: KINDS };

/** Blocks of `few` transactions, then as many of `many`. */
function mixed(few: number, many: number): RecordedBlock[] {
  const options = { length: LENGTH / 2, logsPerTx: 2, tracesPerTx: 3 };
  const blocks = [...generateChain({ ...options, txsPerBlock: few, startNumber: FIRST })];
  const { number, block } = blocks.at(-1) as RecordedBlock;
  const after = { number, hash: block.hash, timestamp: Number(block.timestamp) };
  return [...blocks, ...generateChain({ ...options, txsPerBlock: many, after })];
}

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

describe('what a quote says is what the run then takes', () => {
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
    await world.want(all.start, all.end);
    await world.noteHead();
    await world.settle();
    const data = new Set(cost?.calls.map(({ method }) => method));
    const requests = await counted(
      'packhouse_upstream_calls_total',
      ({ method, outcome }) => data.has(String(method)) && outcome === 'ok',
    );
    const bytes = await counted('packhouse_ingested_bytes_total', () => true);
    let stored = 0;
    for (const kind of KINDS) stored += (await world.database.network('main').bundles.totals(kind)).bytes;
    const outcomes = [requests, bytes, stored];
    const estimates = [cost?.requests, cost?.bytesIn, cost?.bytesStored];
    for (const [at, outcome] of outcomes.entries()) {
      const ratio = (estimates[at]?.value ?? 0) / outcome;
      expect(ratio, `${at}: ${estimates[at]?.value} for ${outcome}`).toBeGreaterThan(0.8);
      expect(ratio, `${at}: ${estimates[at]?.value} for ${outcome}`).toBeLessThan(1.2);
    }
  });
});
