import type { Context } from '@packhouse/runtime';
import { Redis } from 'ioredis';

/** Connects to Redis. While it is away commands fail at once, so that no request waits; `meanwhile` is logged then. */
export function connectRedis(
  url: string,
  context: Pick<Context, 'logger'>,
  meanwhile = 'requests are counted per gateway until it is back',
): Redis {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: 500 });
  let disconnected = false;
  redis.on('error', (error: Error) => {
    if (!disconnected) context.logger.warn({ err: error }, `Redis is unavailable; ${meanwhile}`);
    disconnected = true;
  });
  redis.on('ready', () => {
    if (disconnected) context.logger.info('Redis is available again');
    disconnected = false;
  });
  return redis;
}
