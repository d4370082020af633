import type { KeyRow, Plan } from '@packhouse/database';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { nearestEnd, type RateLimiter, type RateVerdict } from './rate-limiter.js';

const DAY_SECONDS = 86_400;

interface PlanLimiters {
  second: RateLimiterRedis;
  day: RateLimiterRedis | null;
}

/** Creates a limiter that counts in Redis for all gateways together. While Redis is away, each counts for itself. */
export function createSharedRateLimiter(redis: Redis): RateLimiter {
  const byPlan = new Map<string, PlanLimiters>();

  const limiter = (window: string, points: number, duration: number): RateLimiterRedis => {
    const keyPrefix = `packhouse:rate:${window}`;
    return new RateLimiterRedis({
      storeClient: redis,
      keyPrefix,
      points,
      duration,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory({ keyPrefix, points, duration }),
    });
  };

  const limitersOf = (plan: Plan): PlanLimiters => {
    const name = `${plan.requestsPerSecond}/${plan.requestsPerDay}`;
    let limiters = byPlan.get(name);
    if (limiters === undefined) {
      limiters = {
        second: limiter('second', plan.requestsPerSecond, 1),
        day: plan.requestsPerDay === null ? null : limiter('day', plan.requestsPerDay, DAY_SECONDS),
      };
      byPlan.set(name, limiters);
    }
    return limiters;
  };

  return {
    async take(key, cost = 1) {
      const limiters = limitersOf(key.plan);
      const second = await consume('second', limiters.second, key, cost);
      if (!second.allowed || limiters.day === null) return second;
      return nearestEnd(second, await consume('day', limiters.day, key, cost));
    },
    async left(key) {
      const { second, day } = limitersOf(key.plan);
      const inSecond = await look('second', second, key);
      return day === null ? inSecond : nearestEnd(inSecond, await look('day', day, key));
    },
    async close() {
      redis.disconnect();
    },
  };
}

async function consume(
  window: RateVerdict['window'],
  limiter: RateLimiterRedis,
  key: KeyRow,
  cost: number,
): Promise<RateVerdict> {
  try {
    const points = Math.min(cost, limiter.points);
    return verdict(true, window, limiter.points, await limiter.consume(key.id, points));
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return verdict(false, window, limiter.points, refusal);
    throw refusal;
  }
}

async function look(
  window: RateVerdict['window'],
  limiter: RateLimiterRedis,
  { id }: KeyRow,
): Promise<RateVerdict> {
  const { points, duration } = limiter;
  const state = (await limiter.get(id)) ?? { remainingPoints: points, msBeforeNext: duration * 1_000 };
  return verdict(true, window, points, state);
}

function verdict(
  allowed: boolean,
  window: RateVerdict['window'],
  limit: number,
  { remainingPoints, msBeforeNext }: Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'>,
): RateVerdict {
  return {
    allowed,
    window,
    limit,
    remaining: Math.max(0, remainingPoints),
    resetMs: Math.max(0, msBeforeNext),
  };
}
