import type { Deflate } from '@packhouse/bundle';
import { createProver, type SenderThreads } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import {
  type Account,
  type BlockSourceOptions,
  createAllowance,
  createBlockSource,
} from '@packhouse/node-rpc';
import { createFindingReport, ingest, toFetchRequest } from '@packhouse/pipeline';
import type { JobPayloads, Queues } from '@packhouse/queue';
import {
  createOnceAWhile,
  isBudgetError,
  isPackhouseError,
  openScope,
  type PackhouseError,
  type ProcessMessage,
} from '@packhouse/runtime';
import { leadNetwork } from './lead-network.js';
import { createWake } from './wake.js';

interface NetworkWorkerParts extends BlockSourceOptions {
  database: Database;
  queues: Queues;
  /** Bytes of staging, all networks together, from which on nothing new is fetched. */
  stagingMaxBytes: number;
  /** What deflates texts; default: zlib. */
  deflate?: Deflate;
  /** What recovers senders; default: the main thread. */
  senders?: SenderThreads;
  notify(message: ProcessMessage): void;
}

/** Everything one ingester does for one network. */
export interface NetworkWorker {
  /** Handles one try of an ingest job, counted from 1. */
  ingest(job: JobPayloads['ingest'], signal: AbortSignal, attempt: number): Promise<void>;
  /** Leads (follows the head and plans) whenever no other ingester does; returns when one of the signals is aborted. */
  lead(until: AbortSignal): Promise<void>;
  /** Polls the head and plans now: what is requested changed. */
  wake(): void;
  close(): Promise<void>;
}

/** How often it is said that a budget is waited for, in milliseconds. */
const SAY_WAIT_MS = 60_000;

/** Creates the worker of a network; nothing is sent to its upstreams yet. */
export async function createNetworkWorker(parts: NetworkWorkerParts): Promise<NetworkWorker> {
  const { context, database, network, notify } = parts;
  const source = createBlockSource({
    ...parts,
    onFinding: createFindingReport({ network: network.id, context, database }),
  });
  const prover = await createProver(network.proofs);
  const ingestParts = {
    context,
    database: database.network(network.id),
    source,
    prover,
    network: network.id,
    maxFragmentBlocks: network.bundles.maxBlocks,
    deflate: parts.deflate,
    senders: parts.senders,
    contradicted: new Set<string>(),
  };
  const wake = createWake();
  const heads = createWake();

  const report = (error: unknown, doing: string): void => {
    if (context.signal.aborted) return;
    context.logger.warn({ network: network.id, err: error }, `${doing} failed; it is tried again`);
    notify({
      type: 'problem',
      code: isPackhouseError(error) ? error.code : 'INTERNAL',
      message: error instanceof Error ? error.message : String(error),
    });
  };

  const seldom = createOnceAWhile(SAY_WAIT_MS, () => context.clock.elapsed());
  /** Says for what the backfills of this network wait, here and in the database. */
  const waitFor = async (error: PackhouseError): Promise<void> => {
    if (seldom(error.message).say) report(error, 'asking for older blocks');
    await noteWait(database, network.id, error).catch(() => undefined);
  };

  let probed: Promise<void> | undefined;
  /**
   * Done by every ingester, leader or not: an upstream on another chain, or another chain under a stored name, must be
   * known before the first fetch. A method that no upstream offers holds back its kinds alone.
   */
  const probeOnce = (): Promise<void> => {
    probed ??= source
      .probe(toFetchRequest(network.bundles.kinds), context.signal)
      .catch((error: unknown) => {
        if (!isPackhouseError(error, 'NODE_METHOD_MISSING')) throw error;
        report(error, 'looking for all kinds');
      })
      .then(() => database.networks.register({ id: network.id, chainId: network.chainId }))
      .catch((error: unknown) => {
        probed = undefined;
        throw error;
      });
    return probed;
  };

  return {
    async ingest(job, signal, attempt) {
      const scope = openScope(signal, context.signal);
      try {
        await probeOnce();
        const account = await openAccount(database, job);
        if (account === null) return;
        await ingest({ ...ingestParts, source: source.as(account) }, job, scope.signal, attempt);
      } catch (error) {
        if (isBudgetError(error)) await waitFor(error);
        else report(error, `ingesting ${job.firstBlock} to ${job.lastBlock}`);
        throw error;
      } finally {
        scope.close();
        wake.ring();
      }
    },

    lead: (until) =>
      leadNetwork(
        {
          ...parts,
          ingest: ingestParts,
          wake,
          heads,
          report,
          probe: probeOnce,
          forgetProbe: () => {
            probed = undefined;
          },
        },
        until,
      ),

    wake: () => {
      wake.ring();
      heads.ring();
    },

    close: () => source.close(),
  };
}

/** Whom the requests of a job are sent for; null: its backfill is not active any more. */
async function openAccount(
  { backfills }: Database,
  { backfill: id, owner = 'default' }: JobPayloads['ingest'],
): Promise<Account | null> {
  const backfill = id === undefined ? null : await backfills.find(id);
  if (backfill !== null && backfill.state !== 'active') return null;
  const isLimited = backfill !== null && backfill.maxRequests !== null;
  const allowance = isLimited ? createAllowance(backfill.id, backfills.takeRequests) : undefined;
  return { owner, backfill: id, use: 'backfill', allowance };
}

async function noteWait(database: Database, network: string, { data }: PackhouseError): Promise<void> {
  const { provider, period, until } = data;
  if (period !== 'day' && period !== 'month') return;
  const wait = { network, provider: String(provider), period, until: new Date(String(until)) };
  await database.budgets.noteWait(wait as Parameters<Database['budgets']['noteWait']>[0]);
}
