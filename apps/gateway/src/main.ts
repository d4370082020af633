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

await runProcess(process, {
  name: 'gateway',
  settings: gatewaySettings,
  async start({ settings, context, shutdown, notify }) {
    const networks = await loadNetworks(settings.NETWORKS_FILE, process.env);
    await startMetrics({ context, shutdown, notify }, settings);
    const publicMetrics = hasPublicMetrics(settings);
    if (!publicMetrics && settings.METRICS_PORT === 0) {
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
        ? undefined
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
      networks,
      publicUrl: settings.PUBLIC_URL,
      queue,
      rangeCacheBytes: settings.RANGE_CACHE,
      warmLimitMs: settings.WARM_LIMIT_MS,
      downloads: settings.DOWNLOADS,
      fileCacheBytes: settings.FILE_CACHE,
      answerCacheBytes: settings.ANSWER_CACHE,
      answerMemoryBytes: settings.ANSWER_MEMORY,
      bodyMemoryBytes: settings.BODY_MEMORY,
      bodyBytes: settings.MAX_BODY,
      openBodyBytes: settings.OPEN_MAX_BODY,
      connectionsPerAddress: settings.CONNECTIONS_PER_ADDRESS,
      batchCalls: settings.BATCH_CALLS,
      ...(seconds === undefined ? {} : { seconds }),
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
      apply: (changed) => gateway.replaceNetworks(changed),
    });
    shutdown.add('networks file', () => watch?.close());
    const port = await gateway.listen(settings.PORT, settings.HOST);
    context.logger.info({ host: settings.HOST, port }, 'listening');
    notify({ type: 'listening', port });
    await gateway.warmed;
  },
});
