import type { KeyRow } from '@packhouse/database';

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
  take(key: KeyRow): Promise<RateVerdict>;
  close(): Promise<void>;
}
