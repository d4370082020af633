import type { KeyRow } from '@packhouse/database';
import { type MaybePromise, thenSync } from '../http/maybe-promise.js';
import type { Quotas, QuotaVerdict, RateVerdict } from './quotas.js';

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
  take(name: string | number, limit: number, cost: number, counted?: number): MaybePromise<RateVerdict>;
  /** Returns the rest without counting. */
  peek(name: string | number, limit: number): MaybePromise<RateVerdict>;
  close(): Promise<void>;
}

/** Counts calls of keys against their plans. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** Creates the limiter: the second first, then single methods, then day and month. */
export function createRateLimiter(seconds: SecondLimiter, quotas: Quotas) {
  const counted = (key: KeyRow, second: RateVerdict, cost: number, quota: boolean): RateVerdict =>
    pickTighter(second, quota ? quotas.take(key, cost) : quotas.peek(key));

  /** The first method with more calls than its limit allows; null: none. */
  const findExceededMethod = (
    key: KeyRow,
    methods: readonly string[],
    calls: readonly CountedCall[],
  ): MaybePromise<RateVerdict | null> => {
    const [method, ...others] = methods;
    if (method === undefined) return null;
    const count = calls.filter(({ name }) => name === method).length;
    if (count === 0) return findExceededMethod(key, others, calls);
    const taken = seconds.take(`${key.id} ${method}`, key.plan.methodsPerSecond[method] as number, count);
    return thenSync(taken, (verdict) =>
      verdict.allowed ? findExceededMethod(key, others, calls) : { ...verdict, method },
    );
  };

  const checkMethods = (
    key: KeyRow,
    second: RateVerdict,
    calls: readonly CountedCall[],
    cost: number,
    quota: boolean,
  ): MaybePromise<RateVerdict> => {
    if (!second.allowed) return second;
    const methods = Object.keys(key.plan.methodsPerSecond);
    if (methods.length === 0) return counted(key, second, cost, quota);
    return thenSync(
      findExceededMethod(key, methods, calls),
      (refusal) => refusal ?? counted(key, second, cost, quota),
    );
  };

  return {
    /**
     * Counts the calls of one request, which is allowed whole or refused whole; a refused one counts in its second, not
     * in day and month. `quota` false: day and month are neither checked nor counted. `paid`: units that were counted for
     * its body.
     */
    take(key: KeyRow, calls: readonly CountedCall[], quota = true, paid = 0): MaybePromise<RateVerdict> {
      let cost = 0;
      for (const call of calls) cost += call.cost;
      const second = seconds.take(key.id, key.plan.requestsPerSecond, Math.max(0, cost - paid), paid);
      return thenSync(second, (taken) => checkMethods(key, taken, calls, cost, quota));
    },
    /** Counts units for the body of a request, in its second alone. */
    takeBody: (key: KeyRow, units: number, paid: number): MaybePromise<RateVerdict> =>
      seconds.take(key.id, key.plan.requestsPerSecond, units, paid),
    /** Returns the rest of a key without counting. */
    peek: (key: KeyRow): MaybePromise<RateVerdict> =>
      thenSync(seconds.peek(key.id, key.plan.requestsPerSecond), (second) =>
        pickTighter(second, quotas.peek(key)),
      ),
    close: () => seconds.close(),
  };
}

/** The verdict that decides: a refusal, otherwise the one with less left; the warning is of day and month. */
function pickTighter(second: RateVerdict, quota: QuotaVerdict): RateVerdict {
  const { nearest, warning } = quota;
  const decides =
    nearest !== null && (!nearest.allowed || nearest.remaining < second.remaining) ? nearest : second;
  return warning === undefined ? decides : { ...decides, warning };
}
