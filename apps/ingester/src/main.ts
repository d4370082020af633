import { createDatabase, waitForSchema } from '@packhouse/database';
import { loadNetworks } from '@packhouse/networks';
import { createObserver, takeJobs } from '@packhouse/pipeline';
import { createQueues } from '@packhouse/queue';
import { runProcess, startMetrics } from '@packhouse/runtime';
import { observeLoop } from './observe-loop.js';
import { ingesterSettings } from './settings.js';
import { startNetworks } from './start-networks.js';

await runProcess(process, {
  name: 'ingester',
  settings: ingesterSettings,
  async start({ settings, context, shutdown, notify }) {
    const networks = await loadNetworks(settings.NETWORKS_FILE, process.env);
    await startMetrics({ context, shutdown, notify }, settings);
    const database = createDatabase({
      connectionString: settings.DATABASE_URL,
      context,
      applicationName: 'packhouse ingester',
    });
    shutdown.add('database', () => database.close());
    await waitForSchema(database, context);
    const queues = await createQueues({
      redisUrl: settings.REDIS_URL,
      databaseUrl: settings.DATABASE_URL,
      lockMs: settings.JOB_LOCK_MS,
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
      stagingMaxBytes: settings.STAGING_MAX_BYTES,
      notify,
    });
    const observing = observeLoop({
      context,
      database,
      observer: createObserver({ context, database, queues }),
    });
    shutdown.add('observing', () => observing);
    const jobs = await takeJobs({
      ...{ context, database, queues, queue: 'ingest', role: 'ingester', pid: process.pid },
      networks: networks.filter(({ bundles }) => bundles.enabled).map(({ id }) => id),
      concurrency: settings.INGEST_CONCURRENCY,
      handler: ingest,
    });
    shutdown.add('ingest jobs', () => jobs.close());
  },
});
