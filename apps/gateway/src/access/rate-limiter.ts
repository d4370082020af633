import type { KeyRow } from '@packhouse/database';
import type { Soon } from '../http/soon.js';

/** The rest of a key's requests, in the window that is nearest to its limit. */
export interface RateVerdict {
  allowed: boolean;
  window: 'second' | 'day';
  /** Requests per window. */
  limit: number;
  remaining: number;
  /** Milliseconds until the next window. */
  resetMs: number;
}

/** Counts requests of keys against their plans. */
export interface RateLimiter {
  /**
   * Counts `cost` requests (default 1) of a key. A cost above a whole window is allowed if the window is empty, so
   * that no request is refused for ever.
   */
  take(key: KeyRow, cost?: number): Soon<RateVerdict>;
  /** Returns the rest of a key without counting. */
  left(key: KeyRow): Soon<RateVerdict>;
  close(): Promise<void>;
}

/** The verdict that decides: a refusal, otherwise the one with less left. */
export function nearestEnd(second: RateVerdict, day: RateVerdict | null): RateVerdict {
  if (!second.allowed || day === null) return second;
  return !day.allowed || day.remaining < second.remaining ? day : second;
}

/** Takes the headers of an answer. */
export interface AnswerHeaders {
  header(name: string, value: string | number): unknown;
}

/** Sets the headers: the rest of the window nearest to its limit, and the number of requests this one counted as. */
export function sayRate(
  answer: AnswerHeaders,
  { limit, remaining, resetMs }: Pick<RateVerdict, 'limit' | 'remaining' | 'resetMs'>,
  cost: number,
): void {
  answer.header('ratelimit-limit', limit);
  answer.header('ratelimit-remaining', remaining);
  answer.header('ratelimit-reset', Math.ceil(resetMs / 1_000));
  answer.header('ratelimit-cost', cost);
}
