import { createChangeSource } from '@packhouse/feed';
import { openObjectStore } from '@packhouse/object-store';
import { connectDatabase, connectNodes } from '@packhouse/pipeline';
import { createQueueReader } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { connectRedis } from './access/connect-redis.js';
import { createSharedSeconds } from './access/seconds.js';
import { createSharedAnswers } from './cache/answer-cache.js';
import { createRedisFilterStore } from './filters/create-redis-filter-store.js';
import type { GatewayOptions } from './gateway-options.js';
import { createRedisTips } from './networks/redis-tips.js';
import type { GatewaySettings } from './settings.js';
import type { WorkerLink } from './workers/worker-link.js';

interface Closing {
  add(name: string, close: () => unknown): void;
}

/** Connects to Postgres, the object store, the queue and Redis, and closes them at shutdown. */
export async function connectStores({
  settings,
  context,
  shutdown,
  link,
}: {
  settings: GatewaySettings;
  context: Context;
  shutdown: Closing;
  /** Of a worker: where all workers count together. */
  link: WorkerLink | undefined;
}) {
  const { REDIS_URL: redisUrl } = settings;
  const starting = { settings, context, shutdown };
  const database = await connectDatabase(starting, {
    applicationName: 'packhouse gateway',
    limits: { connectMs: 3_000, statementMs: 5_000 },
  });
  const objectStore = await openObjectStore(settings.OBJECT_STORE, {
    endpoint: settings.S3_ENDPOINT,
    checksums: settings.S3_CHECKSUMS,
    publicEndpoint: settings.S3_PUBLIC_ENDPOINT,
  });
  shutdown.add('object store', () => objectStore.close());
  const queue = createQueueReader({ context, redisUrl, databaseUrl: settings.DATABASE_URL });
  shutdown.add('queue reader', () => queue.close());
  const changes = createChangeSource({ context, database, redisUrl });
  shutdown.add('changes', () => changes.close());
  return {
    database,
    objectStore,
    queue,
    changes,
    ...(await connectNodes(starting, 'gateway', database)),
    seconds: link?.seconds('key'),
    addressSeconds: link?.seconds('address'),
    othersReady: link?.othersReady,
    ...(redisUrl === undefined ? {} : connectShared(redisUrl, context, shutdown)),
  };
}

/** What all gateways share on Redis. */
function connectShared(
  url: string,
  context: Context,
  shutdown: Closing,
): Pick<GatewayOptions, 'seconds' | 'filters' | 'sharedAnswers' | 'tips'> {
  const redis = connectRedis(url, context, 'filters cannot be polled until it is back');
  shutdown.add('redis', () => redis.disconnect());
  return {
    seconds: createSharedSeconds(connectRedis(url, context), context.clock),
    filters: createRedisFilterStore(redis),
    sharedAnswers: createSharedAnswers(redis),
    tips: createRedisTips(redis),
  };
}
