import cluster from 'node:cluster';
import { availableParallelism, totalmem } from 'node:os';
import { createDatabase, waitForSchema } from '@packhouse/database';
import { loadNetworks, type NetworksWatch, watchNetworks } from '@packhouse/networks';
import { nftOptionsOf } from '@packhouse/nft';
import { createNodeReports, createRedisLeases, createSpending } from '@packhouse/node-rpc';
import { openObjectStore } from '@packhouse/object-store';
import { createQueueReader } from '@packhouse/queue';
import { runProcess, startMetrics } from '@packhouse/runtime';
import { connectRedis } from './access/connect-redis.js';
import { createSharedSeconds } from './access/shared-seconds.js';
import { createSharedAnswers } from './cache/answer-cache.js';
import { createGateway } from './create-gateway.js';
import { createRedisFilterStore } from './filters/create-redis-filter-store.js';
import { createRedisTips } from './networks/redis-tips.js';
import { gatewaySettings, hasPublicMetrics } from './settings.js';
import { superviseWorkers } from './workers/supervise-workers.js';
import { networksOfWorker, workerCount } from './workers/worker-count.js';
import { type Channel, createWorkerLink } from './workers/worker-link.js';

await runProcess(process, {
  name: 'gateway',
  settings: gatewaySettings,
  async start({ settings, context: own, shutdown, notify }) {
    const networks = await loadNetworks(settings.NETWORKS_FILE, process.env);
    const { count, because } = workerCount(settings, networks, {
      cores: availableParallelism(),
      memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    });
    if (cluster.isPrimary && because !== null) {
      own.logger.info({ workers: count, because }, 'fewer workers than cores');
    }
    if (cluster.isPrimary && count > 1) {
      const workers = superviseWorkers({
        ...{ context: own, cluster, count, notify },
        abandon: (exitCode) => process.exit(exitCode),
      });
      shutdown.add('workers', () => workers.close());
      const context = { ...own, metrics: { ...own.metrics, render: workers.render } };
      await startMetrics({ context, shutdown, notify }, settings);
      await workers.ready;
      return;
    }
    const link = cluster.isWorker ? createWorkerLink(process as Channel, own) : undefined;
    const context =
      link === undefined ? own : { ...own, metrics: { ...own.metrics, render: () => link.render() } };
    const share = (bytes: number): number => Math.floor(bytes / count);
    await startMetrics({ context, shutdown, notify }, settings);
    const publicMetrics = hasPublicMetrics(settings);
    if (!publicMetrics && settings.METRICS_PORT === 0 && link === undefined) {
      context.logger.warn(
        'metrics are not served: set METRICS_PORT (PORT does not answer /metrics to others)',
      );
    }
    const database = createDatabase({
      connectionString: settings.DATABASE_URL,
      context,
      applicationName: 'packhouse gateway',
      limits: { connectMs: 3_000, statementMs: 5_000 },
    });
    shutdown.add('database', () => database.close());
    await waitForSchema(database, context);
    const objectStore = await openObjectStore(settings.OBJECT_STORE, {
      endpoint: settings.S3_ENDPOINT,
      publicEndpoint: settings.S3_PUBLIC_ENDPOINT,
    });
    shutdown.add('object store', () => objectStore.close());
    const queue = createQueueReader({
      ...{ context, redisUrl: settings.REDIS_URL, databaseUrl: settings.DATABASE_URL },
    });
    shutdown.add('queue reader', () => queue.close());
    const leases = settings.REDIS_URL === undefined ? undefined : createRedisLeases(settings.REDIS_URL);
    shutdown.add('budgets', () => leases?.close());
    const spending = await createSpending({
      ...{ context, table: database.spending, budgets: database.budgets },
      leases: leases ?? database.budgets,
    });
    shutdown.add('spending', () => spending.close());
    const reports = await createNodeReports({ context, role: 'gateway', table: database.nodes });
    shutdown.add('node reports', () => reports.close());
    const { REDIS_URL } = settings;
    const seconds =
      REDIS_URL === undefined
        ? link?.seconds('key')
        : createSharedSeconds(connectRedis(REDIS_URL, context), context.clock);
    const redis =
      REDIS_URL === undefined
        ? undefined
        : connectRedis(REDIS_URL, context, 'filters cannot be polled meanwhile');
    shutdown.add('redis', () => redis?.disconnect());
    let watch: NetworksWatch | undefined;
    const gateway = await createGateway({
      context,
      database,
      objectStore,
      networks: networksOfWorker(networks, count),
      publicUrl: settings.PUBLIC_URL,
      queue,
      rangeCacheBytes: share(settings.RANGE_CACHE),
      warmLimitMs: settings.WARM_LIMIT_MS,
      downloads: settings.DOWNLOADS,
      fileCacheBytes: share(settings.FILE_CACHE),
      answerCacheBytes: share(settings.ANSWER_CACHE),
      answerMemoryBytes: share(settings.ANSWER_MEMORY),
      bodyMemoryBytes: share(settings.BODY_MEMORY),
      bodyBytes: settings.MAX_BODY,
      openBodyBytes: settings.OPEN_MAX_BODY,
      connectionsPerAddress: Math.ceil(settings.CONNECTIONS_PER_ADDRESS / count),
      maxConnections: Math.ceil(10_000 / count),
      batchCalls: settings.BATCH_CALLS,
      ...(seconds === undefined ? {} : { seconds }),
      ...(link === undefined
        ? {}
        : { addressSeconds: link.seconds('address'), othersReady: link.othersReady }),
      ...(redis === undefined
        ? {}
        : {
            filters: createRedisFilterStore(redis),
            sharedAnswers: createSharedAnswers(redis),
            tips: createRedisTips(redis),
          }),
      spending,
      reports,
      usageDays: settings.USAGE_DAYS,
      openRate: settings.OPEN_RATE,
      trustProxy: settings.TRUST_PROXY,
      nft: nftOptionsOf(settings),
      logRequests: settings.LOG_REQUESTS,
      publicMetrics,
      networksFileOk: () => (watch?.problem() ?? null) === null,
    });
    shutdown.add('gateway', () => gateway.close({ delayMs: settings.DRAIN_DELAY_MS, cut: shutdown.cut }));
    watch = watchNetworks({
      ...{ path: settings.NETWORKS_FILE, env: process.env, context, networks },
      apply: (changed) => gateway.replaceNetworks(networksOfWorker(changed, count)),
    });
    shutdown.add('networks file', () => watch?.close());
    const port = await gateway.listen(settings.PORT, settings.HOST);
    context.logger.info({ host: settings.HOST, port }, 'listening');
    notify({ type: 'listening', port });
    await gateway.warmed;
  },
});
