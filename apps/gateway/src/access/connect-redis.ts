import type { Context } from '@packhouse/runtime';
import { Redis } from 'ioredis';

/** Connects to Redis. While it is away commands fail at once, so that no request waits; `meanwhile` is logged then. */
export function connectRedis(
  url: string,
  context: Pick<Context, 'logger'>,
  meanwhile = 'requests are counted here meanwhile',
): Redis {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: 500 });
  let away = false;
  redis.on('error', (error: Error) => {
    if (!away) context.logger.warn({ err: error }, `Redis is away; ${meanwhile}`);
    away = true;
  });
  redis.on('ready', () => {
    if (away) context.logger.info('Redis is back');
    away = false;
  });
  return redis;
}
