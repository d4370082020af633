import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateVerdict } from './rate-headers.js';
import type { SecondLimiter } from './rate-limiter.js';

const SECOND_MS = 1_000;

/** Creates a limiter that counts in Redis for all gateways together. While Redis is away, each counts for itself. */
export function createSharedSeconds(redis: Redis): SecondLimiter {
  const byLimit = new Map<number, RateLimiterRedis>();

  const limiterOf = (points: number): RateLimiterRedis => {
    let limiter = byLimit.get(points);
    if (limiter === undefined) {
      const options = { keyPrefix: 'packhouse:rate:second', points, duration: 1 };
      limiter = new RateLimiterRedis({
        ...options,
        storeClient: redis,
        rejectIfRedisNotReady: true,
        insuranceLimiter: new RateLimiterMemory(options),
      });
      byLimit.set(points, limiter);
    }
    return limiter;
  };

  return {
    async take(keyId, method, limit, cost) {
      const name = method === '' ? String(keyId) : `${keyId} ${method}`;
      try {
        return verdict(true, limit, await limiterOf(limit).consume(name, Math.min(cost, limit)));
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return verdict(false, limit, refusal);
        throw refusal;
      }
    },
    async left(keyId, limit) {
      const state = await limiterOf(limit).get(String(keyId));
      return verdict(true, limit, state ?? { remainingPoints: limit, msBeforeNext: SECOND_MS });
    },
    async close() {
      redis.disconnect();
    },
  };
}

function verdict(
  allowed: boolean,
  limit: number,
  { remainingPoints, msBeforeNext }: Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'>,
): RateVerdict {
  return {
    allowed,
    window: 'second',
    limit,
    remaining: Math.max(0, remainingPoints),
    resetMs: Math.max(0, msBeforeNext),
  };
}
