import { createProver } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { networkStatus, QUOTE_CALLS, type Quote, type QuoteRequest, quote } from '@packhouse/pipeline';
import { type Context, PackhouseError } from '@packhouse/runtime';
import { commandContext, withDatabase } from '../installation/connect.js';
import { type CliIo, print } from '../terminal/io.js';
import { createRates } from '../terminal/rates.js';
import { findNetworks } from './audit-places.js';
import { quoteLines } from './quote-lines.js';

export interface QuoteOptions extends QuoteRequest {
  network: string;
  json?: boolean | undefined;
  dataDir?: string | undefined;
}

/** Upstreams that a quote asks: to find out what each offers takes some sixteen of its calls. */
const MAX_UPSTREAMS = 3;
/** How long today's rate is measured at least, in milliseconds, while ingesters are at work. */
const RATE_MS = 2_000;

/** Prints what a backfill would take. Orders nothing. */
export async function showQuote(io: CliIo, options: QuoteOptions): Promise<void> {
  const context = commandContext(io);
  const network = await namedNetwork(io, options);
  await withDatabase(io, options, async (database) => {
    const rate = await measureRate(database, network.id, context);
    const made = await makeQuote(context, database, network, options);
    const blocksPerSecond = made.cost === null ? null : await rate();
    if (options.json) await print(io, { ...made, blocksPerSecond });
    else await print(io, quoteLines(made, blocksPerSecond));
  });
}

async function makeQuote(
  context: Context,
  database: Database,
  network: Network,
  request: QuoteRequest,
): Promise<Quote> {
  const source = createBlockSource({ network, context, maxCalls: QUOTE_CALLS });
  try {
    const prover = await createProver(network.proofs);
    return await quote({ context, database, network, source, prover }, request, context.signal);
  } finally {
    await source.close();
  }
}

/** The network, with the upstreams of the first priorities. Throws NETWORK_UNKNOWN. */
async function namedNetwork(io: CliIo, { network: id, dataDir }: QuoteOptions): Promise<Network> {
  const known = await findNetworks(io, dataDir);
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
