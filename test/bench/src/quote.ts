import path from 'node:path';
import { createProver, KINDS, type Kind } from '@packhouse/chain';
import { callNode, type Scope } from '@packhouse/local';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { createDiskStore } from '@packhouse/object-store';
import { ingest, plan, QUOTE_CALLS, type Quote, quote } from '@packhouse/pipeline';
import { createQueues } from '@packhouse/queue';
import { createReplayNode, extendChain, generateChain, type RecordedBlock } from '@packhouse/replay-node';
import { startReplay, withScope } from '@packhouse/rig';
import { createMetrics } from '@packhouse/runtime';
import type { BenchOptions } from './options.js';
import { oneNetwork, openPlace, type Place } from './place.js';
import { publishKinds } from './publish-all.js';
import type { BenchOutcome, BenchResult } from './result.js';
import { EARLY_NAME, SOURCE, samples } from './sample.js';

/** Farther than this from the outcome, a quote has missed. */
const TOLERANCE = 0.2;
const LONG = 100_000;
const LATENCY_MS = 100;
const LIMIT_S = 10;
const MANY_SMALL = 2_000;

interface Order {
  from: number;
  to: number;
  kinds: readonly Kind[];
}

interface Chain {
  name: string;
  kinds: readonly Kind[];
  blocks: RecordedBlock[];
  /** Of the chain that they are repeated to. */
  length: number;
}

/** A quote beside what the run then took, and how long one of a million blocks takes. */
export async function benchQuote({ blocks, say }: BenchOptions): Promise<BenchOutcome[]> {
  const outcomes: BenchOutcome[] = [];
  for (const chain of chains(Math.ceil(blocks / 4))) {
    say(`  ${chain.name}: ${chain.length} blocks`);
    outcomes.push(...(await withScope((scope) => compare(scope, chain))));
  }
  say(`  a quote of ${LONG} blocks`);
  outcomes.push(await withScope(quoteLong));
  return outcomes;
}

function chains(length: number): Chain[] {
  const early = SOURCE.blocks<RecordedBlock>('early').slice(1, MANY_SMALL);
  const kinds = KINDS;
  const alike = generateChain({ length: 16, txsPerBlock: 1, logsPerTx: 1, tracesPerTx: 1 });
  const empty = generateChain({ length: 12, txsPerBlock: 0 });
  const { number, block } = empty.at(-1) as RecordedBlock;
  const after = { number, hash: block.hash, timestamp: Number(block.timestamp) };
  const mixed = [...empty, ...generateChain({ length: 12, after })];
  return [
    {
      name: EARLY_NAME,
      kinds: KINDS.filter((kind) => kind !== 'traces'),
      blocks: early,
      length: early.length,
    },
    { name: 'small blocks, one of sixteen ten times as large', kinds, blocks: alike, length: MANY_SMALL },
    ...samples().map(({ name, blocks }) => ({ name, kinds, blocks, length })),
    { name: 'empty and full blocks by turns', kinds, blocks: mixed, length },
  ];
}

async function compare(scope: Scope, { name, blocks, kinds, length }: Chain): Promise<BenchResult[]> {
  const place = await openPlace(scope);
  const node = await createReplayNode({ blocks: extendChain(blocks, { length }) });
  scope.defer(() => node.close());
  const { network } = oneNetwork(node.url);
  const firstBlock = blocks[0]?.number ?? 0;
  const range = { from: firstBlock, to: firstBlock + length - 1, kinds };
  const { cost } = await makeQuote(place, network, range);
  if (cost === null) throw new Error('nothing is missing');
  const before = node.stats().callsByMethod;
  const { bytesIn, bytesStored } = await run(scope, place, network, range);
  const requests = cost.calls.reduce(
    (sum, { method }) => sum + (node.stats().callsByMethod[method] ?? 0) - (before[method] ?? 0),
    0,
  );
  const beside = [
    ['requests', 'requests', cost.requests, requests],
    ['bytes in', 'bytes', cost.bytesIn, bytesIn],
    ['bytes stored', 'bytes', cost.bytesStored, bytesStored],
  ] as const;
  return beside.map(([what, unit, estimate, outcome]) => ({
    name: `quote of ${what}, ${name}`,
    value: estimate.value,
    unit,
    yardstick: { name: 'the run', value: outcome, unit },
    target: `within ${TOLERANCE * 100} %`,
    met: Math.abs(estimate.value / outcome - 1) <= TOLERANCE,
    note: `${length} blocks; 90 % interval ${Math.round(estimate.low)} to ${Math.round(estimate.high)}`,
    data: { ...estimate, outcome },
  }));
}

async function makeQuote(
  { context: { logger, clock, signal }, database }: Place,
  network: Network,
  range: Order,
): Promise<Quote> {
  const context = { logger, clock, signal, metrics: createMetrics() };
  const source = createBlockSource({ network, context, maxCalls: QUOTE_CALLS });
  try {
    const prover = await createProver(network.proofs);
    return await quote({ context, database, network, source, prover }, range, signal);
  } finally {
    await source.close();
  }
}

/** Orders the range, plans, ingests and packs until all is published. Bytes of answers, and of bundles. */
async function run(
  scope: Scope,
  { context, database: all, directory, signers, url }: Place,
  network: Network,
  range: Order,
): Promise<{ bytesIn: number; bytesStored: number }> {
  const { signal } = context;
  await all.networks.register({ id: network.id, chainId: network.chainId });
  const database = all.network(network.id);
  await database.backfills.add({ ...range, priority: 1 }, 'bench');
  const source = createBlockSource({ network, context });
  scope.defer(() => source.close());
  const queues = await createQueues({ databaseUrl: url, context });
  scope.defer(() => queues.close());
  const objectStore = await createDiskStore({ directory: path.join(directory, 'objects') });
  const { number, hash, finalized } = await source.head(signal);
  await database.head.set({ number, hash, finalized });
  const { maxBlocks: maxFragmentBlocks } = network.bundles;
  const prover = await createProver(network.proofs);
  const parts = { context, database, source, prover, network: network.id, maxFragmentBlocks };
  const worker = await queues.work(
    'ingest',
    async ({ payload }) => void (await ingest(parts, payload, signal)),
    {
      concurrency: 2,
    },
  );
  do {
    await plan({ context, database: all, queues, network });
    await publishKinds({ context, database: all, signers }, network, objectStore, range.kinds);
    await context.clock.sleep(100, signal);
  } while ((await published(database)).blocks < range.kinds.length * (range.to - range.from + 1));
  await worker.close();
  const counter = context.metrics.registry.getSingleMetric('packhouse_ingested_bytes_total');
  const bytesIn = ((await counter?.get())?.values ?? []).reduce((sum, { value }) => sum + value, 0);
  return { bytesIn, bytesStored: (await published(database)).bytes };
}

async function published(
  database: ReturnType<Place['database']['network']>,
): Promise<{ blocks: number; bytes: number }> {
  const totals = await Promise.all(KINDS.map((kind) => database.bundles.totals(kind)));
  return {
    blocks: totals.reduce((sum, { blocks }) => sum + blocks, 0),
    bytes: totals.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

async function quoteLong(scope: Scope): Promise<BenchResult> {
  const place = await openPlace(scope);
  const sample = samples().at(-1);
  const args = [...(sample?.replayArgs ?? []), '--extend', String(LONG), '--latency', String(LATENCY_MS)];
  const node = await startReplay(scope, args);
  const { network } = oneNetwork(node.url);
  // The node makes the hashes of its chain when its last block is asked for.
  await callNode(node.url, 'eth_getBlockByNumber', ['latest', false]);
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const { asked } = await makeQuote(place, network, { from: node.first, to: node.last, kinds: KINDS });
  const spent = process.cpuUsage(cpu);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    name: `quote of ${LONG} ${sample?.name}`,
    value: seconds,
    unit: 's',
    target: `under ${LIMIT_S} s`,
    met: seconds < LIMIT_S,
    note: `${asked.calls} node calls, ${asked.sample.length} sample blocks, each answer ${LATENCY_MS} ms late; ${((spent.user + spent.system) / 1e6).toFixed(1)} s of CPU`,
  };
}
