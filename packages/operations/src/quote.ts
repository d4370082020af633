import { createProver } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import {
  createRates,
  networkStatus,
  QUOTE_CALLS,
  type Quote,
  type QuoteRequest,
  quote,
} from '@packhouse/pipeline';
import { type Context, PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { orderedKindsField } from './backfills.js';
import { blockField, networkField } from './fields.js';
import { operation } from './operation.js';

/** Upstreams that a quote asks: to find out what each offers takes some sixteen of its calls. */
const MAX_UPSTREAMS = 3;
/** How long today's rate is measured at least, in milliseconds, while ingesters are at work. */
const RATE_MS = 2_000;

export const quoteBackfill = operation({
  name: 'backfills/quote',
  kind: 'read',
  role: 'operator',
  sharedForMs: 10_000,
  summary: `What a range would take: requests, bytes, time; from at most ${QUOTE_CALLS} calls to nodes. Orders nothing.`,
  input: z.object({
    network: networkField,
    start: blockField,
    end: blockField.nullish().describe('the last block; without it up to the head'),
    kinds: orderedKindsField,
  }),
  run: ({ context, database, networks }, { network: id, end = null, ...request }) =>
    makeQuote({ context, database, network: quotedNetwork(networks?.() ?? [], id) }, { ...request, end }),
});

/** Makes a quote, with the blocks a second that ingesters fetch now (null: none is at work). Orders nothing. */
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
export function quotedNetwork(known: readonly Network[], id: string): Network {
  const network = known.find((each) => each.id === id);
  if (network === undefined) {
    throw new PackhouseError({
      code: 'NETWORK_UNKNOWN',
      message: `The networks file has no network "${id}".`,
      hint:
        known.length === 0
          ? 'Set NETWORKS_FILE to the networks file of the ingesters.'
          : `It has ${known.map((each) => each.id).join(', ')}.`,
    });
  }
  const upstreams = [...network.upstreams].sort((a, b) => a.priority - b.priority).slice(0, MAX_UPSTREAMS);
  return { ...network, upstreams };
}

/**
 * Begins to measure how many blocks a second the ingesters of a network fetch, as `packhouse status` does. The result is
 * null if none is at work.
 */
async function measureRate(
  database: Database,
  network: string,
  { clock, signal }: Context,
): Promise<() => Promise<number | null>> {
  const workers = await database.workers.list();
  const busy = workers.some(
    ({ role, networks, doing }) => role === 'ingester' && networks.includes(network) && doing.length > 0,
  );
  if (!busy) return async () => null;
  const rates = createRates();
  const startedAt = clock.elapsed();
  rates.add(await networkStatus(database, network), startedAt);
  return async () => {
    await clock.sleep(Math.max(0, startedAt + RATE_MS - clock.elapsed()), signal);
    const status = await networkStatus(database, network);
    rates.add(status, clock.elapsed());
    const rate = Math.max(0, ...status.kinds.map((kind) => rates.of(kind).blocksPerSecond));
    return rate > 0 ? rate : null;
  };
}
