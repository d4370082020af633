import type { KeyRow, Plan } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import { Problem } from '../http/problem.js';
import type { RateLimiter } from '../limits/rate-limiter.js';
import type { KeyCache } from './key-cache.js';

/** What admission reads of a request and writes of its answer. */
export interface Admitted {
  network: string;
  /** Called with the public prefix as soon as the key is known. */
  identified(prefix: string): void;
  /** Sets a header of the answer. */
  header(name: string, value: string | number): void;
}

/** Lets holders of a key in. */
export interface Admission {
  /** The key's row; throws problems `unauthenticated`, `forbidden`, `rate-limited`, `quota-exhausted`. */
  admit(key: string | undefined, request: Admitted): Promise<KeyRow>;
}

/** Makes the door: who is it, has the key ended, how much is left, is this network included. */
export function createAdmission(options: {
  keys: KeyCache;
  rateLimiter: RateLimiter;
  clock: Clock;
}): Admission {
  return {
    async admit(key, request) {
      const row = key === undefined ? null : await options.keys.find(key);
      if (row === null) throw unauthenticated();
      request.identified(row.prefix);
      refuseEnded(row, options.clock.now());
      const rate = await options.rateLimiter.take(row);
      const resetSeconds = Math.ceil(rate.resetMs / 1_000);
      request.header('ratelimit-policy', policyOf(row.plan));
      request.header('ratelimit-limit', rate.limit);
      request.header('ratelimit-remaining', rate.remaining);
      request.header('ratelimit-reset', resetSeconds);
      if (!rate.allowed) throw tooMany(row.plan, rate.window, Math.max(1, resetSeconds));
      if (row.network !== null && row.network !== request.network) {
        throw new Problem('forbidden', { detail: 'This API key belongs to another network.' });
      }
      return row;
    },
  };
}

/** Throws the problem `plan-limit` where a block lies above what the plan includes. */
export function refuseAbovePlan(plan: Plan, requested: number): void {
  if (plan.maxBlock === null || requested <= plan.maxBlock) return;
  throw new Problem('plan-limit', {
    detail: `The plan "${plan.name}" includes blocks up to ${plan.maxBlock}; block ${requested} was asked for.`,
    members: { plan: plan.name, maxBlock: plan.maxBlock, requested },
  });
}

/** One text for a missing, a malformed and an unknown key, so that nobody learns which it was. */
export function unauthenticated(): Problem {
  return new Problem('unauthenticated', {
    detail: 'The API key is missing or not valid.',
    headers: { 'www-authenticate': 'Bearer realm="packhouse"' },
  });
}

function refuseEnded(row: KeyRow, now: number): void {
  if (row.revokedAt !== null) throw new Problem('forbidden', { detail: 'This API key was revoked.' });
  if (row.expiresAt !== null && row.expiresAt.getTime() <= now) {
    throw new Problem('forbidden', { detail: 'This API key has expired.' });
  }
}

function tooMany(plan: Plan, window: 'second' | 'day', retryAfter: number): Problem {
  const limit = window === 'second' ? plan.requestsPerSecond : plan.requestsPerDay;
  return new Problem(window === 'second' ? 'rate-limited' : 'quota-exhausted', {
    detail: `The plan "${plan.name}" includes ${limit} requests a ${window}; try again in ${retryAfter} s.`,
    members: { plan: plan.name, limit, window, retryAfter },
    headers: { 'retry-after': String(retryAfter) },
  });
}

/** Each window as `limit;w=seconds`. */
function policyOf(plan: Plan): string {
  const second = `${plan.requestsPerSecond};w=1`;
  return plan.requestsPerDay === null ? second : `${second}, ${plan.requestsPerDay};w=86400`;
}
