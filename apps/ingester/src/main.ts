import { createDatabase } from '@packhouse/database';
import { loadNetworks } from '@packhouse/networks';
import { createQueues } from '@packhouse/queue';
import { runProcess, serveMetrics } from '@packhouse/runtime';
import { ingesterSettings } from './settings.js';
import { startNetworks } from './start-networks.js';

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
    const ingest = await startNetworks({
      context,
      shutdown,
      database,
      queues,
      networks,
      maxBodyBytes: settings.NODE_MAX_BODY,
      timeoutMs: settings.NODE_TIMEOUT_MS,
      notify,
    });
    const jobs = await queues.work('ingest', ingest, { concurrency: settings.INGEST_CONCURRENCY });
    shutdown.add('ingest jobs', () => jobs.close());
    if (settings.METRICS_PORT !== 0) {
      const server = await serveMetrics(context.metrics, settings.METRICS_PORT);
      shutdown.add('metrics', () => server.close());
    }
  },
});
