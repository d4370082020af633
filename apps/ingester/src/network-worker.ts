import { createProver } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { createBackPressure, follow, ingest, plan } from '@packhouse/pipeline';
import type { JobPayloads, Queues } from '@packhouse/queue';
import { type Context, isPackhouseError, type ProcessMessage } from '@packhouse/runtime';

export interface NetworkWorkerParts {
  context: Context;
  database: Database;
  queues: Queues;
  network: Network;
  maxBodyBytes: number;
  timeoutMs: number;
  /** Bytes of staging, all networks together, from which on nothing new is fetched. */
  stagingMaxBytes: number;
  notify(message: ProcessMessage): void;
}

/** Everything one ingester does for one network. */
export interface NetworkWorker {
  /** Handles one try of an ingest job, counted from 1. */
  ingest(job: JobPayloads['ingest'], signal: AbortSignal, attempt: number): Promise<void>;
  /** Leads (follows the head and plans) whenever no other ingester does; returns when the signal is aborted. */
  lead(): Promise<void>;
  close(): Promise<void>;
}

/** A plan is made at least this often, in milliseconds, and at once when a job is done. */
const PLAN_EVERY_MS = 1_000;
/** Pause after an error of node, database or queue, in milliseconds. */
const RETRY_MS = 1_000;
const RETRY_LEAD_MS = 2_000;

/** Makes the worker of a network; the node is asked for nothing yet. */
export async function createNetworkWorker(parts: NetworkWorkerParts): Promise<NetworkWorker> {
  const { context, database, network, queues, notify } = parts;
  const source = createBlockSource({
    network,
    context,
    maxBodyBytes: parts.maxBodyBytes,
    timeoutMs: parts.timeoutMs,
  });
  const prover = await createProver(network.proofs);
  const ingestParts = {
    context,
    database,
    source,
    prover,
    network: network.id,
    maxFragmentBlocks: network.bundles.maxBlocks,
  };
  const wake = createWake();

  let probed: Promise<void> | undefined;
  /** Whoever leads or not: an upstream on another chain must be known before the first block is asked for. */
  const probeOnce = (): Promise<void> => {
    probed ??= source.probe(wishOf(network), context.signal).catch((error: unknown) => {
      probed = undefined;
      throw error;
    });
    return probed;
  };

  const report = (error: unknown, doing: string): void => {
    if (context.signal.aborted) return;
    context.logger.warn({ network: network.id, err: error }, `${doing} failed; it is tried again`);
    notify({
      type: 'problem',
      code: isPackhouseError(error) ? error.code : 'INTERNAL',
      message: error instanceof Error ? error.message : String(error),
    });
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
      try {
        await probeOnce();
        await ingest(ingestParts, job, AbortSignal.any([signal, context.signal]), attempt);
      } catch (error) {
        report(error, `ingesting ${job.start} to ${job.end}`);
        throw error;
      } finally {
        wake.ring();
      }
    },

    async lead() {
      await repeat('leading', context.signal, async () => {
        const lock = await database.tryLock(`lead:${network.id}`);
        if (lock === null) return context.clock.sleep(RETRY_LEAD_MS, context.signal);
        const signal = AbortSignal.any([context.signal, lock.lost]);
        const pressure = createBackPressure({
          context,
          database,
          network: network.id,
          limitBytes: parts.stagingMaxBytes,
        });
        try {
          // Whoever begins to lead asks anew: the nodes may have changed.
          probed = undefined;
          let registered = false;
          let severe = false;
          const following = { ...ingestParts, mayStage: () => !severe };
          await Promise.all([
            repeat('following the head', signal, async () => {
              await probeOnce();
              if (!registered) await database.networks.register({ id: network.id, chainId: network.chainId });
              registered = true;
              await followOnce(parts, following, signal, wake.ring);
            }),
            // Nodes that are gone keep nothing from being packed.
            repeat('planning', signal, async () => {
              ({ severe } = await plan({ context, database, queues, network, pressure }));
              await wake.wait(PLAN_EVERY_MS, signal);
            }),
          ]);
        } finally {
          pressure.close();
          await lock.release();
        }
      });
    },

    close: () => source.close(),
  };
}

async function followOnce(
  { context, network, notify }: NetworkWorkerParts,
  ingestParts: Parameters<typeof follow>[0],
  signal: AbortSignal,
  moved: () => void,
): Promise<void> {
  const { behind, failures, staged } = await follow(ingestParts, signal);
  if (staged > 0) moved();
  for (const { number, error } of failures) {
    context.logger.warn(
      { network: network.id, block: number, err: error },
      'block at the head could not be staged yet',
    );
    notify({
      type: 'problem',
      code: isPackhouseError(error) ? error.code : 'INTERNAL',
      message: error.message,
    });
  }
  if (!behind) await context.clock.sleep(network.pollIntervalMs, signal);
}

function wishOf(network: Network): { receipts: boolean; traces: boolean } {
  const { kinds } = network.bundles;
  return { receipts: kinds.includes('receipts') || kinds.includes('logs'), traces: kinds.includes('traces') };
}

/** A bell that a waiting loop hears at once, or at its next wait. */
function createWake(): { ring(): void; wait(ms: number, signal: AbortSignal): Promise<void> } {
  let rung = false;
  let hear: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      hear?.();
    },
    async wait(ms, signal) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(() => done(), ms);
          const done = (): void => {
            clearTimeout(timer);
            signal.removeEventListener('abort', done);
            resolve();
          };
          hear = done;
          signal.addEventListener('abort', done, { once: true });
        });
      }
      hear = undefined;
      rung = false;
    },
  };
}
