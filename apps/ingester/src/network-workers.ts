import { isDeepStrictEqual } from 'node:util';
import type { Network } from '@packhouse/networks';
import { forgetUpstreams } from '@packhouse/node-rpc';
import type { Job } from '@packhouse/queue';
import { type Context, PackhouseError } from '@packhouse/runtime';
import type { NetworkWorker } from './network-worker.js';

/** The workers of the networks with bundles, as the networks file is in force. */
interface NetworkWorkers {
  /** Ids of the networks in force. */
  networks(): readonly string[];
  /** How many networks have jobs that run here. */
  busy(): number;
  /** Makes the worker of a network poll the head and plan now. */
  wake(network: string): void;
  /** Handles one try of a job, to the end by the worker that its network has now. Throws NETWORK_UNKNOWN. */
  ingest(job: Job<'ingest'>): Promise<void>;
  /**
   * Puts networks in force: starts workers of those that are new, and replaces those of changed ones. A worker that is
   * replaced or no longer needed stops leading at once, and is closed after its running jobs. If a worker cannot be
   * made, nothing changes and its error is thrown.
   */
  replace(networks: readonly Network[]): Promise<void>;
  /** Closes all workers after their running jobs. */
  close(): Promise<void>;
}

interface Running {
  network: Network;
  worker: NetworkWorker;
  leading: Promise<void>;
  stopLeading: AbortController;
  jobs: Set<Promise<void>>;
}

/** Creates an empty set; `make` creates the worker of one network. */
export function createNetworkWorkers(
  context: Context,
  make: (network: Network) => Promise<NetworkWorker>,
): NetworkWorkers {
  const inForce = new Map<string, Running>();
  const leaving = new Set<Promise<void>>();

  const start = (network: Network, worker: NetworkWorker): void => {
    const stopLeading = new AbortController();
    const leading = worker.lead(stopLeading.signal);
    inForce.set(network.id, { network, worker, leading, stopLeading, jobs: new Set() });
  };
  const retire = ({ network, worker, leading, stopLeading, jobs }: Running): void => {
    inForce.delete(network.id);
    stopLeading.abort(new Error(`another state of network ${network.id} is in force`));
    const left = (async () => {
      await leading;
      await Promise.allSettled(jobs);
      await worker.close();
      forgetUpstreams(context.metrics, network, inForce.get(network.id)?.network.upstreams ?? []);
    })()
      .catch((error: unknown) =>
        context.logger.warn({ network: network.id, err: error }, 'closing the worker of a network failed'),
      )
      .finally(() => leaving.delete(left));
    leaving.add(left);
  };

  return {
    networks: () => [...inForce.keys()],
    wake: (network) => inForce.get(network)?.worker.wake(),
    busy: () => [...inForce.values()].filter(({ jobs }) => jobs.size > 0).length,

    async ingest({ id, payload, signal, attempt }) {
      const running = inForce.get(payload.network);
      if (running === undefined) {
        throw new PackhouseError({
          code: 'NETWORK_UNKNOWN',
          message: `Job ${id} is for network "${payload.network}", which this ingester's networks file does not have.`,
          hint: 'Give all ingesters the same networks file.',
        });
      }
      const job = running.worker.ingest(payload, signal, attempt);
      running.jobs.add(job);
      try {
        await job;
      } finally {
        running.jobs.delete(job);
      }
    },

    async replace(networks) {
      const wanted = networks.filter(({ bundles }) => bundles.enabled);
      const made: { network: Network; worker: NetworkWorker }[] = [];
      try {
        for (const network of wanted) {
          if (isDeepStrictEqual(network, inForce.get(network.id)?.network)) continue;
          made.push({ network, worker: await make(network) });
        }
        context.signal.throwIfAborted();
      } catch (error) {
        await Promise.allSettled(made.map(({ worker }) => worker.close()));
        throw error;
      }
      const stays = ({ id }: Network): boolean =>
        wanted.some((network) => network.id === id) && !made.some(({ network }) => network.id === id);
      for (const running of [...inForce.values()]) if (!stays(running.network)) retire(running);
      for (const { network, worker } of made) start(network, worker);
    },

    async close() {
      for (const running of [...inForce.values()]) retire(running);
      await Promise.all(leaving);
    },
  };
}
