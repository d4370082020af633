import type { Database } from '@packhouse/database';
import type { Clock, Logger } from '@packhouse/runtime';
import { nearestEnd, type RateLimiter, type RateVerdict } from './rate-limiter.js';
import { createSharedUsage } from './shared-usage.js';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

interface Counts {
  /** When the second began, in milliseconds. */
  second: number;
  inSecond: number;
  inDay: number;
}

/**
 * Creates a limiter that counts in this process: seconds begin with a key's first request, days at midnight UTC. With
 * `shared`, days are counted in Postgres, for all gateways together and across restarts.
 *
 * It does not use rate-limiter-flexible, which is asynchronous: two of its windows with their promises took more of a
 * pointer's time than everything else in the route.
 */
export function createLocalRateLimiter(
  clock: Clock,
  shared?: { keys: Pick<Database['keys'], 'use' | 'forgetUses'>; logger: Logger },
): RateLimiter {
  /** By key, for the keys used today. */
  const counts = new Map<number, Counts>();
  let today = 0;
  const usage =
    shared === undefined
      ? undefined
      : createSharedUsage({
          ...{ ...shared, clock },
          learn: (id, day, requests) => {
            const count = counts.get(id);
            if (count !== undefined && day === today) count.inDay = Math.max(count.inDay, requests);
          },
        });
  return {
    take({ id, plan }, cost = 1) {
      const now = clock.now();
      const day = Math.floor(now / DAY_MS);
      if (day !== today) {
        counts.clear();
        today = day;
      }
      let count = counts.get(id);
      if (count === undefined) {
        count = { second: now, inSecond: 0, inDay: 0 };
        counts.set(id, count);
      }
      const sinceMs = now - count.second;
      if (sinceMs < 0 || sinceMs >= SECOND_MS) {
        count.second = now;
        count.inSecond = 0;
      }
      count.inSecond += Math.min(cost, plan.requestsPerSecond);
      const resetMs = count.second + SECOND_MS - now;
      const second = verdict('second', plan.requestsPerSecond, count.inSecond, resetMs);
      if (!second.allowed || plan.requestsPerDay === null) return second;
      const inDay = verdict('day', plan.requestsPerDay, count.inDay + cost, (day + 1) * DAY_MS - now);
      // Refused requests are not counted, so they do not use up the day's quota.
      if (inDay.allowed) {
        count.inDay += cost;
        usage?.note(id, cost);
      }
      return nearestEnd(second, inDay);
    },
    left({ id, plan }) {
      const now = clock.now();
      const day = Math.floor(now / DAY_MS);
      const count = day === today ? counts.get(id) : undefined;
      const sinceMs = now - (count?.second ?? now);
      const over = sinceMs < 0 || sinceMs >= SECOND_MS;
      const inSecond = over ? 0 : (count?.inSecond ?? 0);
      const second = verdict('second', plan.requestsPerSecond, inSecond, SECOND_MS - (over ? 0 : sinceMs));
      if (plan.requestsPerDay === null) return second;
      const untilMs = (day + 1) * DAY_MS - now;
      return nearestEnd(second, verdict('day', plan.requestsPerDay, count?.inDay ?? 0, untilMs));
    },
    close: async () => usage?.close(),
  };
}

function verdict(window: RateVerdict['window'], limit: number, used: number, resetMs: number): RateVerdict {
  return { allowed: used <= limit, window, limit, remaining: Math.max(0, limit - used), resetMs };
}
