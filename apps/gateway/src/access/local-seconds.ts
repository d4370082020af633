import type { Clock } from '@packhouse/runtime';
import type { RateVerdict } from './rate-headers.js';
import type { SecondLimiter } from './rate-limiter.js';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

interface Window {
  /** When it began, in milliseconds. */
  start: number;
  used: number;
}

/**
 * Creates a limiter that counts in this process: a key's second begins with its first request.
 *
 * It does not use rate-limiter-flexible, which is asynchronous: its windows with their promises took more of a
 * pointer's time than everything else in the route.
 */
export function createLocalSeconds(clock: Pick<Clock, 'elapsed'>): SecondLimiter {
  /** By key, for the keys used today, and by key and method. */
  const ofKeys = new Map<number, Window>();
  const ofMethods = new Map<string, Window>();
  let today = 0;

  const windowOf = (keyId: number, method: string, now: number): Window => {
    const day = Math.floor(now / DAY_MS);
    if (day !== today) {
      ofKeys.clear();
      ofMethods.clear();
      today = day;
    }
    const name = method === '' ? undefined : `${keyId} ${method}`;
    let window = name === undefined ? ofKeys.get(keyId) : ofMethods.get(name);
    if (window === undefined) {
      window = { start: now, used: 0 };
      if (name === undefined) ofKeys.set(keyId, window);
      else ofMethods.set(name, window);
    }
    return window;
  };

  return {
    take(keyId, method, limit, cost) {
      const now = clock.elapsed();
      const window = windowOf(keyId, method, now);
      const sinceMs = now - window.start;
      if (sinceMs >= SECOND_MS) {
        window.start = now;
        window.used = 0;
      }
      window.used += Math.min(cost, limit);
      return verdict(limit, window.used, window.start + SECOND_MS - now);
    },
    left(keyId, limit) {
      const now = clock.elapsed();
      const window = ofKeys.get(keyId);
      const sinceMs = now - (window?.start ?? now);
      const over = sinceMs >= SECOND_MS;
      return verdict(limit, over ? 0 : (window?.used ?? 0), SECOND_MS - (over ? 0 : sinceMs));
    },
    close: async () => undefined,
  };
}

function verdict(limit: number, used: number, resetMs: number): RateVerdict {
  return { allowed: used <= limit, window: 'second', limit, remaining: Math.max(0, limit - used), resetMs };
}
