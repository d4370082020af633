import { getHeapStatistics } from 'node:v8';
import { createDeflater } from '@packhouse/bundle';
import { createSenderThreads, hasNativeRecovery } from '@packhouse/chain';
import { loadNetworks } from '@packhouse/networks';
import {
  connectDatabase,
  connectNodes,
  connectQueues,
  followNetworksFile,
  takeJobs,
} from '@packhouse/pipeline';
import { createObserver } from '@packhouse/report';
import { runProcess, startMetrics } from '@packhouse/runtime';
import { createNetworkWorker } from './network-worker.js';
import { createNetworkWorkers } from './network-workers.js';
import { observeLoop } from './observe-loop.js';
import { heldBytes, ingesterSettings } from './settings.js';
import { watchRequests } from './watch-requests.js';

await runProcess(process, {
  name: 'ingester',
  settings: ingesterSettings,
  async start(starting) {
    const { settings, context, shutdown, notify } = starting;
    const networks = await loadNetworks(settings.NETWORKS_FILE, process.env);
    await startMetrics(starting, settings);
    const database = await connectDatabase(starting, { applicationName: 'packhouse ingester' });
    const queues = await connectQueues(starting);
    const nodes = await connectNodes(starting, 'ingester', database);
    const deflater = settings.DEFLATE === 'kernel' ? createDeflater({ context }) : undefined;
    shutdown.add('deflater', () => deflater?.close());
    if (!hasNativeRecovery() && networks.some(({ proofs }) => proofs.senders === 'all')) {
      context.logger.warn(
        'The package secp256k1 has no binary for this machine: recovering a sender takes about 1.5 ms of CPU instead of 0.05, some 280 ms a mainnet block. Install a compiler and run npm rebuild secp256k1, or set proofs.senders to sample.',
      );
    }
    const senders = createSenderThreads();
    shutdown.add('senders', () => senders.close());
    const workers = createNetworkWorkers(context, (network) =>
      createNetworkWorker({
        context,
        database,
        queues,
        network,
        notify,
        ...nodes,
        maxBodyBytes: settings.NODE_MAX_BODY,
        // Shared by the networks that fetch now.
        maxInFlightBytes: () => heldBytes(getHeapStatistics().heap_size_limit) / Math.max(1, workers.busy()),
        timeoutMs: settings.NODE_TIMEOUT_MS,
        stagingMaxBytes: settings.STAGING_MAX_BYTES,
        deflate: deflater?.deflate,
        senders,
      }),
    );
    shutdown.add('networks', () => workers.close());
    await workers.replace(networks);
    const observer = createObserver({ context, database, queues });
    const observing = observeLoop({ context, database, observer });
    shutdown.add('observing', () => observing);
    const watching = watchRequests(context, database, workers.wake);
    shutdown.add('watching', () => watching);
    const file = followNetworksFile(starting, process.env, database, {
      inForce: networks,
      replace: workers.replace,
    });
    const jobs = await takeJobs({
      context,
      database,
      queues,
      queue: 'ingest',
      role: 'ingester',
      pid: process.pid,
      file,
      networks: workers.networks,
      concurrency: settings.INGEST_CONCURRENCY,
      handler: workers.ingest,
    });
    shutdown.add('ingest jobs', () => jobs.close());
  },
});
