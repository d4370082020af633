import type { Context } from '@packhouse/runtime';
import { Redis } from 'ioredis';

/** A connection that owes an answer for so long is made anew, in milliseconds. */
const ANSWER_MS = 5_000;

/** Connects to Redis. While it is away commands fail at once, so that no request waits; `meanwhile` is logged then. */
export function connectRedis(
  url: string,
  context: Pick<Context, 'logger'>,
  meanwhile = 'requests are counted per gateway until it is back',
): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 500,
    socketTimeout: ANSWER_MS,
  });
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
