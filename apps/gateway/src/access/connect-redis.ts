import { type Context, findRedisFault, parseRedisAddress } from '@packhouse/runtime';
import { Redis } from 'ioredis';

/** A connection that owes an answer for so long is made anew, in milliseconds. */
const ANSWER_MS = 5_000;

/**
 * Connects to Redis. While it is away commands fail at once, so that no request waits; `meanwhile` is logged then. One
 * that would drop keys is an error in the log at every connection: a gateway answers what needs no Redis all the same.
 */
export function connectRedis(
  url: string,
  context: Pick<Context, 'logger'>,
  meanwhile = 'requests are counted per gateway until it is back',
): Redis {
  const redis = new Redis({
    ...parseRedisAddress(url),
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
    void reportFault(redis, context);
  });
  return redis;
}

async function reportFault(redis: Redis, { logger }: Pick<Context, 'logger'>): Promise<void> {
  const fault = findRedisFault(await redis.info().catch(() => ''));
  if (fault !== undefined) logger.error(`Redis cannot be relied on: ${fault.message}. ${fault.hint}`);
}
