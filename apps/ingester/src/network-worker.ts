import type { Deflate } from '@packhouse/bundle';
import { createProver } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createBlockSource, type NodeReports, type Spending } from '@packhouse/node-rpc';
import {
  createBackPressure,
  createFairShares,
  createOpeningHours,
  createPlanTraces,
  describeTrial,
  fetchWish,
  ingest,
  plan,
  tryProofs,
} from '@packhouse/pipeline';
import type { JobPayloads, Queues } from '@packhouse/queue';
import {
  type Context,
  createOnceAWhile,
  isBudgetError,
  isPackhouseError,
  openScope,
  type PackhouseError,
  type ProcessMessage,
} from '@packhouse/runtime';
import { createHeadFollower } from './follow-head.js';
import { createWake } from './wake.js';

interface NetworkWorkerParts {
  context: Context;
  database: Database;
  queues: Queues;
  spending?: Spending;
  reports?: NodeReports;
  network: Network;
  maxBodyBytes: number;
  /** Bytes fetched ahead; default 64 MiB. */
  maxInFlightBytes?: number;
  timeoutMs: number;
  /** Bytes of staging, all networks together, from which on nothing new is fetched. */
  stagingMaxBytes: number;
  /** What deflates texts; default: zlib. */
  deflate?: Deflate | undefined;
  notify(message: ProcessMessage): void;
}

/** Everything one ingester does for one network. */
export interface NetworkWorker {
  /** Handles one try of an ingest job, counted from 1. */
  ingest(job: JobPayloads['ingest'], signal: AbortSignal, attempt: number): Promise<void>;
  /** Leads (follows the head and plans) whenever no other ingester does; returns when one of the signals is aborted. */
  lead(until: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** A plan is made at least this often, in milliseconds, and at once when a job is done. */
const PLAN_EVERY_MS = 1_000;
/** Pause between two looks whether older blocks are wanted than those whose rules were tried, in milliseconds. */
const TRY_EVERY_MS = 5_000;
/** Pause between two looks for wanted ranges that are published whole, in milliseconds, and how many a look is at. */
const FOLD_EVERY_MS = 5_000;
const FOLD_AT_ONCE = 1_000;
/** Pause after an error of node, database or queue, in milliseconds. */
const RETRY_MS = 1_000;
const RETRY_LEAD_MS = 2_000;
/** How often it is said that a budget is waited for, in milliseconds. */
const SAY_WAIT_MS = 60_000;

/** Creates the worker of a network; nothing is sent to its upstreams yet. */
export async function createNetworkWorker(parts: NetworkWorkerParts): Promise<NetworkWorker> {
  const { context, database, network, queues, notify } = parts;
  const source = createBlockSource({
    network,
    context,
    maxBodyBytes: parts.maxBodyBytes,
    timeoutMs: parts.timeoutMs,
    ...(parts.maxInFlightBytes === undefined ? {} : { maxInFlightBytes: parts.maxInFlightBytes }),
    ...(parts.spending === undefined ? {} : { spending: parts.spending }),
    ...(parts.reports === undefined ? {} : { reports: parts.reports }),
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
  };
  const wake = createWake();

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
    const { provider, period, until } = error.data;
    if (period !== 'day' && period !== 'month') return;
    const wait = { network: network.id, provider: String(provider), period, until: new Date(String(until)) };
    await database.budgets
      .noteWait(wait as Parameters<Database['budgets']['noteWait']>[0])
      .catch(() => undefined);
  };

  let probed: Promise<void> | undefined;
  /**
   * Done by every ingester, leader or not: an upstream on another chain, or another chain under a stored name, must be
   * known before the first fetch. A method that no upstream offers holds back its kinds alone.
   */
  const probeOnce = (): Promise<void> => {
    probed ??= source
      .probe(fetchWish(network.bundles.kinds), context.signal)
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

  let tried = Number.POSITIVE_INFINITY;
  /**
   * Says what the first wanted block and the newest final one prove, before hours of fetching; again when older blocks
   * are wanted.
   */
  const tryFirstAndLast = async (signal: AbortSignal): Promise<void> => {
    const kept = ingestParts.database;
    const finalized = (await kept.head.get())?.finalized ?? -1;
    const { active } = await kept.wanted.runs();
    const first = Math.min(...[...active.values()].map(([run]) => run?.start ?? Number.POSITIVE_INFINITY));
    if (first > finalized || first >= tried) return;
    tried = first;
    const trial = await tryProofs(ingestParts, [first, finalized], network.bundles.kinds, signal);
    for (const line of describeTrial(network.id, trial)) context.logger.info({ network: network.id }, line);
    for (const { number, error } of trial.failed) report(error, `proving block ${number}, to try the rules,`);
  };

  const repeat = async (doing: string, signal: AbortSignal, step: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      try {
        await step();
      } catch (error) {
        if (signal.aborted) return;
        report(error, doing);
        await context.clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
  };

  return {
    async ingest(job, signal, attempt) {
      const scope = openScope(signal, context.signal);
      try {
        await probeOnce();
        const account = { owner: job.owner ?? 'default', range: job.range, use: 'backfill' } as const;
        await ingest({ ...ingestParts, source: source.as(account) }, job, scope.signal, attempt);
      } catch (error) {
        if (isBudgetError(error)) await waitFor(error);
        else report(error, `ingesting ${job.start} to ${job.end}`);
        throw error;
      } finally {
        scope.close();
        wake.ring();
      }
    },

    async lead(until) {
      const term = openScope(context.signal, until);
      await repeat('leading', term.signal, async () => {
        const lock = await database.tryLock(`lead:${network.id}`);
        if (lock === null) return context.clock.sleep(RETRY_LEAD_MS, term.signal);
        const scope = openScope(term.signal, lock.lost);
        const { signal } = scope;
        const pressure = createBackPressure({
          context,
          database,
          network: network.id,
          limitBytes: parts.stagingMaxBytes,
        });
        try {
          // A new leader probes again: the upstreams may have changed.
          probed = undefined;
          let registered = false;
          let foldedTo: number | null = null;
          let severe = false;
          const shares = createFairShares();
          const traces = createPlanTraces(context);
          const hours = createOpeningHours();
          const uncut = new Set<string>();
          const follower = createHeadFollower({
            context,
            network,
            parts: { ...ingestParts, mayStage: () => !severe },
            notify,
            moved: wake.ring,
          });
          signal.addEventListener('abort', follower.close, { once: true });
          await Promise.all([
            repeat('following the head', signal, async () => {
              await probeOnce();
              registered = true;
              await follower.step(signal);
            }),
            repeat('trying the rules', signal, async () => {
              if (registered) await tryFirstAndLast(signal);
              await context.clock.sleep(TRY_EVERY_MS, signal);
            }),
            repeat('folding finished ranges', signal, async () => {
              foldedTo = await ingestParts.database.wanted.fold(foldedTo, FOLD_AT_ONCE);
              await context.clock.sleep(FOLD_EVERY_MS, signal);
            }),
            // Planning continues without the upstreams, so that staged blocks are packed.
            repeat('planning', signal, async () => {
              ({ severe } = await plan({
                context,
                database,
                queues,
                network,
                pressure,
                shares,
                traces,
                hours,
                uncut,
              }));
              await wake.wait(PLAN_EVERY_MS, signal);
            }),
          ]);
        } finally {
          scope.close();
          pressure.close();
          await lock.release();
        }
      });
      term.close();
    },

    close: () => source.close(),
  };
}
