import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { Job, Queues } from '@packhouse/queue';
import { type Context, PackhouseError, type ProcessMessage, type Shutdown } from '@packhouse/runtime';
import { createNetworkWorker, type NetworkWorker } from './network-worker.js';

interface StartNetworksParts {
  context: Context;
  shutdown: Shutdown;
  database: Database;
  queues: Queues;
  networks: readonly Network[];
  maxBodyBytes: number;
  timeoutMs: number;
  stagingMaxBytes: number;
  notify(message: ProcessMessage): void;
}

/** Starts a worker for each network with bundles. Returns the handler of their jobs. */
export async function startNetworks(
  parts: StartNetworksParts,
): Promise<(job: Job<'ingest'>) => Promise<void>> {
  const { networks, shutdown, ...shared } = parts;
  const workers = new Map<string, NetworkWorker>();
  for (const network of networks.filter((each) => each.bundles.enabled)) {
    const worker = await createNetworkWorker({ ...shared, network });
    workers.set(network.id, worker);
    const leading = worker.lead();
    shutdown.add(`network ${network.id}`, async () => {
      await leading;
      await worker.close();
    });
  }
  return async (job) => {
    const worker = workers.get(job.payload.network);
    if (worker !== undefined) return worker.ingest(job.payload, job.signal, job.attempt);
    throw new PackhouseError({
      code: 'NETWORK_UNKNOWN',
      message: `Job ${job.id} is for network "${job.payload.network}", which this ingester's networks file does not have.`,
      hint: 'Give all ingesters the same networks file.',
    });
  };
}
