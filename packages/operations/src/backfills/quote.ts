import { createProver } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { QUOTE_CALLS, type Quote, type QuoteRequest, quote } from '@packhouse/pipeline';
import { createRates, networkStatus } from '@packhouse/report';
import type { Context } from '@packhouse/runtime';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { blockField, networkField } from '../operation/fields.js';
import { read } from '../operation/operation.js';
import { requestedKindsField } from './backfills.js';

/** Upstreams that a quote calls: to probe the capabilities of one takes about 16 calls. */
const MAX_UPSTREAMS = 3;
/** Shortest measurement of the current rate. */
const MIN_RATE_MS = 2_000;

export const quoteBackfill = read({
  name: 'backfills/quote',
  role: 'operator',
  sharedForMs: 10_000,
  summary: `Estimates requests, bytes and time of a backfill with at most ${QUOTE_CALLS} calls to nodes; creates nothing.`,
  input: z.object({
    network: networkField,
    from: blockField.describe('the first block'),
    to: blockField.nullish().describe('the last block; default: the head'),
    kinds: requestedKindsField,
  }),
  run: ({ context, database, networks }, { network: id, from, to = null, kinds }) =>
    makeQuote({ context, database, network: findQuotedNetwork(networks?.() ?? [], id) }, { kinds, from, to }),
});

/** Makes a quote, with the blocks per second that ingesters fetch now (null: none is active). */
export async function makeQuote(
  { context, database, network }: { context: Context; database: Database; network: Network },
  request: QuoteRequest,
): Promise<Quote & { blocksPerSecond: number | null }> {
  const rate = await measureRate(database, network.id, context);
  const source = createBlockSource({ network, context, maxCalls: QUOTE_CALLS });
  try {
    const prover = await createProver(network.proofs);
    const made = await quote({ context, database, network, source, prover }, request, context.signal);
    return { ...made, blocksPerSecond: made.cost === null ? null : await rate() };
  } finally {
    await source.close();
  }
}

/** The network, with the upstreams of the first priorities. Throws NETWORK_UNKNOWN. */
export function findQuotedNetwork(known: readonly Network[], id: string): Network {
  const network = known.find((each) => each.id === id);
  if (network === undefined) {
    fail(
      'NETWORK_UNKNOWN',
      `Unknown network "${id}" in the networks file.`,
      known.length === 0
        ? 'Set NETWORKS_FILE to the networks file of the ingesters.'
        : `Its networks: ${known.map((each) => each.id).join(', ')}.`,
    );
  }
  const upstreams = [...network.upstreams].sort((a, b) => a.priority - b.priority).slice(0, MAX_UPSTREAMS);
  return { ...network, upstreams };
}

/**
 * Starts to measure the blocks per second of the ingesters of a network, as `packhouse status` does; null: none is
 * active.
 */
async function measureRate(
  database: Database,
  network: string,
  { clock, signal }: Context,
): Promise<() => Promise<number | null>> {
  const workers = await database.workers.list();
  const busy = workers.some(
    ({ role, networks, jobs }) => role === 'ingester' && networks.includes(network) && jobs.length > 0,
  );
  if (!busy) return async () => null;
  const rates = createRates();
  const startedAt = clock.elapsed();
  rates.add(await networkStatus(database, network), startedAt);
  return async () => {
    await clock.sleep(Math.max(0, startedAt + MIN_RATE_MS - clock.elapsed()), signal);
    const status = await networkStatus(database, network);
    rates.add(status, clock.elapsed());
    const rate = Math.max(0, ...status.kinds.map((kind) => rates.of(kind).blocksPerSecond));
    return rate > 0 ? rate : null;
  };
}
