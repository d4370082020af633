import type { KeyRow } from '@packhouse/database';
import type { Soon } from '../http/soon.js';

/** What a key has left after a request, in the window that is nearest to its end. */
export interface RateVerdict {
  allowed: boolean;
  window: 'second' | 'day';
  /** Requests a window. */
  limit: number;
  remaining: number;
  /** Milliseconds until the window starts anew. */
  resetMs: number;
}

/** Counts requests of keys against their plans. */
export interface RateLimiter {
  /**
   * Counts `cost` requests (default 1) of a key. What costs more than a whole window is let in where nothing else
   * was, so that no request is refused for ever.
   */
  take(key: KeyRow, cost?: number): Soon<RateVerdict>;
  /** What a key has left; nothing is counted. */
  left(key: KeyRow): Soon<RateVerdict>;
  close(): Promise<void>;
}

/** The verdict of the window that ends first: a refusal, or whichever has less left. */
export function nearestEnd(second: RateVerdict, day: RateVerdict | null): RateVerdict {
  if (!second.allowed || day === null) return second;
  return !day.allowed || day.remaining < second.remaining ? day : second;
}

/** Where the headers of an answer go. */
export interface AnswerHeaders {
  header(name: string, value: string | number): unknown;
}

/** Says in an answer what is left of the window that is nearest to its end, and how many requests this one counted as. */
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
