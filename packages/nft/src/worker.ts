import { randomBytes } from 'node:crypto';
import type { Database, LeasedNftJob } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { Forwarder } from '@packhouse/node-rpc';
import { createCoreNode } from './core-node.js';
import { type JobParts, runJob } from './run-job.js';

/** Works on the jobs of one network as long as the gateway serves it. */
export interface NftWorker {
  /** Checks for a new job at once. */
  wake(): void;
  /** Stops; unfinished jobs are released to other gateways. */
  close(): Promise<void>;
}

/** How long a gateway keeps a job after the last renewal. */
const LEASE_MS = 30_000;
/** How often postponed jobs, and jobs of gateways that died, are searched. */
const LOOK_EVERY_MS = 1_000;
/** Jobs of one network at the same time in one gateway. */
const CONCURRENCY = 2;
/** How often finished jobs of yesterday are deleted. */
const SWEEP_EVERY_MS = 600_000;

/**
 * Creates the worker of a network; undefined if its family has no such tokens. Every gateway has one, so that no extra
 * process is needed. It asks upstreams through the gateway's forwarder; Postgres decides which gateway has a job.
 */
export function createNftWorker(
  parts: Pick<JobParts, 'context' | 'fetchDocument' | 'uris'> & {
    network: Network;
    forwarder: Forwarder;
    database: Pick<Database, 'nft'>;
    /** For tests. */
    leaseMs?: number | undefined;
  },
): NftWorker | undefined {
  if (parts.network.family !== 'core') return undefined;
  const { context } = parts;
  const network = parts.network.id;
  const node = createCoreNode(parts.network, parts.forwarder);
  const networkId = parts.network.chainId;
  const { nft } = parts.database;
  const { logger } = context;
  const leaseMs = parts.leaseMs ?? LEASE_MS;
  const closing = new AbortController();
  const { signal } = closing;
  const naps = new Set<AbortController>();
  let sweptAt = context.clock.elapsed();

  const rest = async (): Promise<void> => {
    if (signal.aborted) return;
    const nap = new AbortController();
    naps.add(nap);
    await context.clock.sleep(LOOK_EVERY_MS, nap.signal).catch(() => undefined);
    naps.delete(nap);
  };

  /** Runs a job and renews its lease; a lost lease ends the work. */
  const runLeased = async (job: LeasedNftJob): Promise<void> => {
    const stop = new AbortController();
    const leave = (): void => stop.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    let lost = false;
    const lose = (): void => {
      lost = true;
      stop.abort(new Error('another gateway has the job'));
    };
    let keptAt = performance.now();
    const renewal = setInterval(() => {
      nft.renew(job, leaseMs).then(
        (kept) => {
          if (kept) keptAt = performance.now();
          else lose();
        },
        () => {
          if (performance.now() - keptAt > leaseMs) lose();
        },
      );
    }, leaseMs / 3);
    try {
      await runJob({ ...parts, nft, node, networkId }, job, stop.signal);
    } catch (error) {
      if (signal.aborted) {
        await nft.release(job, { delayMs: 0, failed: false }).catch(() => undefined);
      } else if (!lost) {
        logger.warn({ network, err: error }, 'a refresh job failed and will be resumed');
      }
    } finally {
      clearInterval(renewal);
      signal.removeEventListener('abort', leave);
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        if (context.clock.elapsed() - sweptAt > SWEEP_EVERY_MS) {
          sweptAt = context.clock.elapsed();
          await nft.sweep();
        }
        const job = await nft.claim({ networks: [network], lease: randomBytes(16), leaseMs });
        if (job === null) await rest();
        else await runLeased(job);
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ network, err: error }, 'failed to look for refresh jobs; will retry');
        await rest();
      }
    }
  };
  const running = Array.from({ length: CONCURRENCY }, run);

  return {
    wake() {
      for (const nap of naps) nap.abort();
    },
    async close() {
      closing.abort(new Error('the gateway closes'));
      for (const nap of naps) nap.abort();
      await Promise.all(running);
    },
  };
}
