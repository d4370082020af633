import { getHeapStatistics } from 'node:v8';
import { createDeflater } from '@packhouse/bundle';
import { createDatabase, waitForSchema } from '@packhouse/database';
import { loadNetworks, watchNetworks } from '@packhouse/networks';
import { createNodeReports, createRedisLeases, createSpending } from '@packhouse/node-rpc';
import { createObserver, refuseOtherChains, takeJobs } from '@packhouse/pipeline';
import { createQueues } from '@packhouse/queue';
import { runProcess, startMetrics } from '@packhouse/runtime';
import { createNetworkWorker } from './network-worker.js';
import { createNetworkWorkers } from './network-workers.js';
import { observeLoop } from './observe-loop.js';
import { heldBytes, ingesterSettings } from './settings.js';

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
      kept: settings.JOBS_KEPT,
      context,
    });
    shutdown.add('queues', () => queues.close());
    const leases = settings.REDIS_URL === undefined ? undefined : createRedisLeases(settings.REDIS_URL);
    shutdown.add('budgets', () => leases?.close());
    const spending = await createSpending({
      ...{ context, table: database.spending, budgets: database.budgets },
      leases: leases ?? database.budgets,
    });
    shutdown.add('spending', () => spending.close());
    const deflater = settings.DEFLATE === 'kernel' ? createDeflater({ context }) : undefined;
    shutdown.add('deflater', () => deflater?.close());
    const reports = await createNodeReports({ context, role: 'ingester', table: database.nodes });
    shutdown.add('node reports', () => reports.close());
    const workers = createNetworkWorkers(context, (network) =>
      createNetworkWorker({
        ...{ context, database, queues, network, notify, spending, reports },
        maxBodyBytes: settings.NODE_MAX_BODY,
        maxInFlightBytes: heldBytes(getHeapStatistics().heap_size_limit),
        timeoutMs: settings.NODE_TIMEOUT_MS,
        stagingMaxBytes: settings.STAGING_MAX_BYTES,
        deflate: deflater?.deflate,
      }),
    );
    shutdown.add('networks', () => workers.close());
    await workers.replace(networks);
    const observing = observeLoop({
      context,
      database,
      observer: createObserver({ context, database, queues }),
    });
    shutdown.add('observing', () => observing);
    const watch = watchNetworks({
      ...{ path: settings.NETWORKS_FILE, env: process.env, context, networks },
      async apply(changed, changes) {
        await refuseOtherChains(database, changed, changes);
        await workers.replace(changed);
      },
    });
    shutdown.add('networks file', () => watch.close());
    const jobs = await takeJobs({
      ...{ context, database, queues, queue: 'ingest', role: 'ingester', pid: process.pid, file: watch },
      networks: workers.networks,
      concurrency: settings.INGEST_CONCURRENCY,
      handler: workers.ingest,
    });
    shutdown.add('ingest jobs', () => jobs.close());
  },
});
