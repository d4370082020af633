import { createDatabase } from '@packhouse/database';
import { loadNetworks } from '@packhouse/networks';
import { createQueues } from '@packhouse/queue';
import { PackhouseError, runProcess, serveMetrics } from '@packhouse/runtime';
import { createNetworkWorker, type NetworkWorker } from './network-worker.js';
import { ingesterSettings } from './settings.js';

/** Windows extracted at a time where INGEST_CONCURRENCY does not say. */
const CONCURRENCY = 3;

await runProcess(process, {
  name: 'ingester',
  settings: ingesterSettings,
  async start({ settings, context, shutdown, notify }) {
    const networks = await loadNetworks(settings.NETWORKS_FILE, process.env);
    const database = createDatabase({
      connectionString: settings.DATABASE_URL,
      context,
      applicationName: 'packhouse ingester',
    });
    shutdown.add('database', () => database.close());
    await database.checkSchema();
    const queues = await createQueues({
      redisUrl: settings.REDIS_URL,
      databaseUrl: settings.DATABASE_URL,
      context,
    });
    shutdown.add('queues', () => queues.close());

    const workers = new Map<string, NetworkWorker>();
    for (const network of networks.filter((each) => each.bundles.enabled)) {
      const worker = await createNetworkWorker({
        context,
        database,
        queues,
        network,
        maxBodyBytes: settings.NODE_MAX_BODY,
        timeoutMs: settings.NODE_TIMEOUT_MS,
        notify,
      });
      workers.set(network.id, worker);
      const leading = worker.lead();
      shutdown.add(`network ${network.id}`, async () => {
        await leading;
        await worker.close();
      });
    }
    const jobs = await queues.work(
      'ingest',
      (job) => {
        const worker = workers.get(job.payload.network);
        if (worker !== undefined) return worker.ingest(job.payload, job.signal);
        throw new PackhouseError({
          code: 'NETWORK_UNKNOWN',
          message: `Job ${job.id} is for network "${job.payload.network}", which ${settings.NETWORKS_FILE} does not have.`,
          hint: 'Give all ingesters the same networks file.',
        });
      },
      { concurrency: settings.INGEST_CONCURRENCY ?? CONCURRENCY },
    );
    shutdown.add('ingest jobs', () => jobs.close());
    if (settings.METRICS_PORT) {
      const server = await serveMetrics(context.metrics, settings.METRICS_PORT);
      shutdown.add('metrics', () => server.close());
    }
  },
});
