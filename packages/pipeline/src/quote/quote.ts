import { type BlockRange, countBlocks, KINDS, type Kind, type Prover } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { BlockSource } from '@packhouse/node-rpc';
import { type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { toFetchRequest } from '../ingest/extract.js';
import { requestsPerBlock } from '../plan/blocks-left.js';
import { windowsToKeep } from '../plan/plan.js';
import { windowBlocks } from '../plan/windows.js';
import { callCosts, type MethodCost, nodeSeconds } from './call-costs.js';
import { type Estimate, estimateTotal, scaled } from './estimate.js';
import { findMissing, type KindStanding } from './missing.js';
import { type ProviderCost, providerCosts } from './provider-costs.js';
import { choosePlaces, deflatedShares, fetchSample, type SampledBlock } from './sample.js';

/** Calls that a quote makes at most; its source is to be opened with this limit. */
export const QUOTE_CALLS = 100;
/** Calls that are kept for tries again. */
const SPARE_CALLS = 6;
/** Blocks of a sample that are the least, and all where every receipt is a call of its own. */
const MIN_SAMPLE = 5;

interface QuoteParts {
  context: Context;
  database: Database;
  network: Network;
  /** Makes QUOTE_CALLS calls at most. */
  source: BlockSource;
  prover: Prover;
}

/** A range that might be ordered; `end` null: up to the head. */
export interface QuoteRequest {
  from: number;
  to: number | null;
  kinds: readonly Kind[];
}

/** Bytes of one kind: of canonical text, and of that deflated as it is stored. */
interface KindBytes {
  kind: Kind;
  raw: Estimate;
  stored: Estimate;
}

/** What a backfill would take. */
export interface Quote {
  network: string;
  range: BlockRange;
  head: number;
  /** Of every kind asked for that a node offers. */
  standing: KindStanding[];
  /** Kinds that no node offers together with the others; they are left out. */
  lacking: Kind[];
  /** Blocks to fetch, of one kind or several. */
  blocks: number;
  /** What the quote itself asked of the nodes. */
  asked: { calls: number; sample: number[] };
  /** null: nothing is missing. */
  cost: {
    calls: MethodCost[];
    requests: Estimate;
    /** Bytes of the nodes' answers, after decoding. */
    bytesIn: Estimate;
    kinds: KindBytes[];
    bytesStored: Estimate;
    /** Bytes of fragments in staging at most, while packers keep up. */
    stagingPeak: number;
    /** Of those upstreams that have a budget. */
    providers: ProviderCost[];
    /** Seconds at the nodes' limits: calls a second, requests in flight of the measured latency, and budgets. */
    nodeSeconds: number;
  } | null;
}

/**
 * Estimates what a backfill would take, from a sample of its missing blocks that is fetched, proved, written and
 * deflated as an ingester does (`sample.ts` says which blocks, `estimate.ts` how a total and its interval follow).
 * Nothing is stored or ordered.
 *
 * Throws RANGE_BEYOND_HEAD; CALLS_SPENT if the calls are not enough; what `probe` throws; and the error of a block of
 * the sample that cannot be fetched or proved: the run would meet it too.
 */
export async function quote(parts: QuoteParts, request: QuoteRequest, signal: AbortSignal): Promise<Quote> {
  const { database, network, source } = parts;
  const kinds = await offeredKinds(source, request.kinds, signal);
  const head = (await source.head(signal)).number;
  const range = { firstBlock: request.from, lastBlock: request.to ?? head };
  if (range.firstBlock > head || range.lastBlock > head) throw beyondHead(network.id, range, head);
  const { standing, pieces } = await findMissing(database.network(network.id), range, kinds);
  const blocks = countBlocks(pieces);
  const lacking = request.kinds.filter((kind) => !kinds.includes(kind));
  const facts = { network: network.id, range, head, standing, lacking, blocks };
  if (blocks === 0) return { ...facts, asked: { calls: getCalls(source), sample: [] }, cost: null };

  const seed = `${network.id}/${range.firstBlock}/${range.lastBlock}`;
  const picks = choosePlaces(pieces, sampleSize(parts, kinds, blocks), seed);
  const sample = await fetchSample({ ...parts, network: network.id }, picks, signal);
  const calls = callCosts(sample, blocks, source);
  const providers = providerCosts(calls, network.upstreams, await database.budgets.list());
  const shares = await deflatedShares(sample);
  const sizes = KINDS.filter((kind) => kinds.includes(kind)).map((kind): KindBytes => {
    const raw = getTotal(sample, blocks, (block) => block.raw.get(kind) ?? 0);
    return { kind, raw, stored: scaled(raw, shares.get(kind) ?? 0) };
  });
  const stored = (block: SampledBlock): number =>
    [...block.raw].reduce((sum, [kind, bytes]) => sum + bytes * (shares.get(kind) ?? 0), 0);
  return {
    ...facts,
    asked: { calls: getCalls(source), sample: picks.map(({ number }) => number) },
    cost: {
      calls,
      requests: getRequests(sample, blocks),
      bytesIn: getTotal(sample, blocks, ({ answered }) => getSum(answered, (each) => each.bytes)),
      kinds: sizes,
      bytesStored: getTotal(sample, blocks, stored),
      stagingPeak: await stagingPeak(parts, sizes, blocks),
      providers,
      nodeSeconds: Math.max(
        nodeSeconds(calls, source.status(), network.upstreams),
        ...providers.map(({ seconds }) => seconds),
      ),
    },
  };
}

function getTotal(
  sample: readonly SampledBlock[],
  blocks: number,
  of: (block: SampledBlock) => number,
): Estimate {
  return estimateTotal(sample.map(of), blocks);
}

function getSum<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((sum, each) => sum + of(each), 0);
}

/** Every block is asked for once, and once for each part where none takes a call a transaction. */
function getRequests(sample: readonly SampledBlock[], blocks: number): Estimate {
  const counts = sample.map(({ answered }) => getSum(answered, ({ calls }) => calls));
  const single = sample.some(({ answered }) => answered.some(({ method }) => method === SINGLE_RECEIPTS));
  const parts = Math.max(...sample.map(({ kinds }) => requestsPerBlock(kinds)));
  const estimate = estimateTotal(counts, blocks, single ? Number.POSITIVE_INFINITY : parts);
  return { ...estimate, low: Math.max(blocks, estimate.low) };
}

/** Calls sent so far. */
function getCalls(source: BlockSource): number {
  return getSum(source.status(), ({ requests }) => requests);
}

/** Of these kinds, those that some node offers together; all others need a part that none gives. */
async function offeredKinds(
  source: BlockSource,
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<Kind[]> {
  const receiptKinds: readonly Kind[] = ['receipts', 'logs'];
  const withoutTraces = kinds.filter((kind) => kind !== 'traces');
  const withoutReceipts = kinds.filter((kind) => !receiptKinds.includes(kind));
  const neither = withoutTraces.filter((kind) => !receiptKinds.includes(kind));
  let missing: unknown;
  for (const some of [kinds, withoutTraces, withoutReceipts, neither]) {
    if (some.length === 0 || (missing !== undefined && some.length === kinds.length)) continue;
    try {
      await source.probe(toFetchRequest(some), signal);
      return [...some];
    } catch (error) {
      if (!isPackhouseError(error, 'NODE_METHOD_MISSING')) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

/** How many blocks the calls that are left allow. Throws CALLS_SPENT. */
function sampleSize({ network, source }: QuoteParts, kinds: readonly Kind[], blocks: number): number {
  const fits = Math.floor((QUOTE_CALLS - SPARE_CALLS - getCalls(source)) / requestsPerBlock(kinds));
  if (fits < Math.min(MIN_SAMPLE, blocks)) {
    throw new PackhouseError({
      code: 'CALLS_SPENT',
      message: `A quote for ${network.id} makes ${QUOTE_CALLS} node calls at most, and ${getCalls(source)} of them were needed to find out what its nodes offer, which leaves too few for a sample.`,
      hint: 'Name fewer kinds with --kinds, or a networks file with fewer upstreams.',
    });
  }
  const single = source.status().some(({ capabilities }) => capabilities.receipts === SINGLE_RECEIPTS);
  return toFetchRequest(kinds).receipts && single ? Math.min(fits, MIN_SAMPLE) : fits;
}

/** The way of asking for receipts that takes a call for each. */
const SINGLE_RECEIPTS = 'eth_getTransactionReceipt';

function beyondHead(network: string, { firstBlock, lastBlock }: BlockRange, head: number): PackhouseError {
  return new PackhouseError({
    code: 'RANGE_BEYOND_HEAD',
    message: `Blocks ${firstBlock}-${lastBlock} of ${network} cannot be quoted: its head is block ${head}.`,
    hint: firstBlock > head ? 'Begin before the head.' : `End at ${head} at most, or leave --to out.`,
  });
}

/** What the windows that are kept running hold, and of every kind a bundle that cannot be cut yet. */
async function stagingPeak(
  { database, network }: QuoteParts,
  sizes: readonly KindBytes[],
  blocks: number,
): Promise<number> {
  const windows = windowsToKeep(await database.workers.slots(network.id));
  const window = windowBlocks((sizes[0]?.raw.value ?? 0) / blocks);
  const staged = Math.min(blocks, windows * window + network.bundles.maxBlocks) / blocks;
  return getSum(sizes, ({ stored: { value } }) => {
    return Math.min(value * staged, (value * windows * window) / blocks + network.bundles.maxBytes);
  });
}
