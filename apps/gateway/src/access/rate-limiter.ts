import type { KeyRow, Plan } from '@packhouse/database';
import { type Soon, whenHere } from '../http/soon.js';
import type { Quotas, QuotaVerdict } from './quotas.js';
import type { RateVerdict } from './rate-headers.js';

/** One call to count: its method, or the route of what is not JSON-RPC, and the units it costs. */
export interface CountedCall {
  readonly name: string;
  readonly cost: number;
}

/**
 * Counts in windows of one second, by name: the id of a key, alone or with a method behind it, or an address. A cost above
 * a whole window is allowed if it is empty, and counted whole: what is above the limit is paid by the next seconds.
 */
export interface SecondLimiter {
  /**
   * Counts `cost` against `limit`; what is refused uses its second up, and makes no debt. `counted`: units of the same
   * request that were counted before; with no others the window is empty.
   */
  take(name: string | number, limit: number, cost: number, counted?: number): Soon<RateVerdict>;
  /** Returns the rest without counting. */
  left(name: string | number, limit: number): Soon<RateVerdict>;
  close(): Promise<void>;
}

/** Counts calls of keys against their plans. */
export interface RateLimiter {
  /**
   * Counts the calls of one request, which is allowed whole or refused whole; a refused one counts in its second, not in
   * day and month. `quota` false: day and month are neither asked nor counted. `paid`: units that were counted for its
   * body.
   */
  take(key: KeyRow, calls: readonly CountedCall[], quota?: boolean, paid?: number): Soon<RateVerdict>;
  /** Counts units for the body of a request, in its second alone. */
  takeBody(key: KeyRow, units: number, paid: number): Soon<RateVerdict>;
  /** Returns the rest of a key without counting. */
  left(key: KeyRow): Soon<RateVerdict>;
  close(): Promise<void>;
}

/** Creates the limiter: the second first, then single methods, then day and month. */
export function createRateLimiter(seconds: SecondLimiter, quotas: Quotas): RateLimiter {
  const counted = (key: KeyRow, second: RateVerdict, cost: number, quota: boolean): RateVerdict =>
    nearestEnd(second, quota ? quotas.take(key, cost) : quotas.left(key));

  /** The first method with more calls than its limit allows; null: none. */
  const tooManyOf = (
    key: KeyRow,
    methods: readonly string[],
    calls: readonly CountedCall[],
  ): Soon<RateVerdict | null> => {
    const [method, ...others] = methods;
    if (method === undefined) return null;
    const asked = calls.filter(({ name }) => name === method).length;
    if (asked === 0) return tooManyOf(key, others, calls);
    const taken = seconds.take(`${key.id} ${method}`, limitOf(key.plan, method), asked);
    return whenHere(taken, (verdict) =>
      verdict.allowed ? tooManyOf(key, others, calls) : { ...verdict, method },
    );
  };

  const proceed = (
    key: KeyRow,
    second: RateVerdict,
    calls: readonly CountedCall[],
    cost: number,
    quota: boolean,
  ): Soon<RateVerdict> => {
    if (!second.allowed) return second;
    const methods = Object.keys(key.plan.methodsPerSecond);
    if (methods.length === 0) return counted(key, second, cost, quota);
    return whenHere(
      tooManyOf(key, methods, calls),
      (refusal) => refusal ?? counted(key, second, cost, quota),
    );
  };

  return {
    take(key, calls, quota = true, paid = 0) {
      let cost = 0;
      for (const call of calls) cost += call.cost;
      const second = seconds.take(key.id, key.plan.requestsPerSecond, Math.max(0, cost - paid), paid);
      return second instanceof Promise
        ? second.then((taken) => proceed(key, taken, calls, cost, quota))
        : proceed(key, second, calls, cost, quota);
    },
    takeBody: (key, units, paid) => seconds.take(key.id, key.plan.requestsPerSecond, units, paid),
    left: (key) =>
      whenHere(seconds.left(key.id, key.plan.requestsPerSecond), (second) =>
        nearestEnd(second, quotas.left(key)),
      ),
    close: () => seconds.close(),
  };
}

function limitOf({ methodsPerSecond }: Plan, method: string): number {
  return methodsPerSecond[method] as number;
}

/** The verdict that decides: a refusal, otherwise the one with less left; the warning is of day and month. */
function nearestEnd(second: RateVerdict, quota: QuotaVerdict): RateVerdict {
  const { nearest, warning } = quota;
  const decides =
    nearest !== null && (!nearest.allowed || nearest.remaining < second.remaining) ? nearest : second;
  return warning === undefined ? decides : { ...decides, warning };
}
