import type { Clock } from '@packhouse/runtime';
import type { Redis } from 'ioredis';
import type { RateVerdict } from './quotas.js';
import type { SecondLimiter } from './rate-limiter.js';

const SECOND_MS = 1_000;
/** How often windows that are over are looked for, when a new one begins. */
const SWEEP_MS = 10_000;

interface Window {
  /** When its second began, in milliseconds. */
  start: number;
  /** What was counted in it; above the limit it is a debt that the next seconds pay. */
  used: number;
  /** The limit that it was counted against last. */
  limit: number;
}

/** A limiter that answers at once. */
export interface LocalSeconds extends SecondLimiter {
  take(name: string | number, limit: number, cost: number, counted?: number): RateVerdict;
  peek(name: string | number, limit: number): RateVerdict;
}

/** Creates a limiter that counts in this process: a second begins with its first request. */
export function createLocalSeconds(clock: Pick<Clock, 'elapsed'>): LocalSeconds {
  const windows = new Map<string | number, Window>();
  let sweptAt = clock.elapsed();

  /** Begins a new second if the last one is over, with what is left of a debt. */
  const advance = (window: Window, limit: number, now: number): void => {
    window.limit = limit;
    const seconds = Math.floor((now - window.start) / SECOND_MS);
    if (seconds === 0) return;
    const owed = window.used - seconds * limit;
    window.used = Math.max(0, owed);
    window.start = owed > 0 ? window.start + seconds * SECOND_MS : now;
  };

  const sweep = (now: number): void => {
    sweptAt = now;
    for (const [name, { start, used, limit }] of windows) {
      if (now - start >= Math.max(1, Math.ceil(used / limit)) * SECOND_MS) windows.delete(name);
    }
  };

  return {
    take(name, limit, cost, counted = 0) {
      const now = clock.elapsed();
      let window = windows.get(name);
      if (window === undefined) {
        if (now - sweptAt >= SWEEP_MS) sweep(now);
        window = { start: now, used: 0, limit };
        windows.set(name, window);
      } else advance(window, limit, now);
      const allowed = window.used <= counted || window.used + cost <= limit;
      window.used = allowed ? window.used + cost : Math.max(window.used, limit);
      return secondVerdict(allowed, limit, window.used, now - window.start, cost);
    },
    peek(name, limit) {
      const now = clock.elapsed();
      const window = windows.get(name);
      if (window === undefined) return secondVerdict(true, limit, 0, 0);
      // A copy: a new second begins with what is counted in it.
      const current = { ...window };
      advance(current, limit, now);
      return secondVerdict(true, limit, current.used, now - current.start);
    },
    close: async () => undefined,
  };
}

/**
 * The verdict on a request of `cost`, with `used` units counted in a second that began `sinceMs` ago. A debt defers
 * the next window to where something is left of it, for a refused request to where it fits.
 */
function secondVerdict(
  allowed: boolean,
  limit: number,
  used: number,
  sinceMs: number,
  cost = 0,
): RateVerdict {
  const seconds = allowed ? Math.floor(used / limit) : Math.ceil((used - Math.max(0, limit - cost)) / limit);
  return {
    allowed,
    window: 'second',
    limit,
    remaining: Math.max(0, limit - used),
    resetMs: Math.max(1, seconds) * SECOND_MS - sinceMs,
  };
}

const PREFIX = 'packhouse:rate:second-of:';
/** Instead of a cost: nothing is counted. */
const PEEK = -1;

/**
 * Counts as `createLocalSeconds` does, by the clock of Redis. KEYS window; ARGV limit, cost, units of the same request
 * that are counted already. Returns whether it is allowed, what is used, and the milliseconds since the second began.
 */
const TAKE = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local limit, cost = tonumber(ARGV[1]), tonumber(ARGV[2])
local known = redis.call('HMGET', KEYS[1], 'start', 'used')
local start, used = tonumber(known[1] or now), tonumber(known[2] or 0)
local seconds = math.max(0, math.floor((now - start) / 1000))
local owed = used - seconds * limit
if now < start or seconds > 0 then
  used = math.max(0, owed)
  if seconds > 0 and owed > 0 then start = start + seconds * 1000 else start = now end
end
if cost < 0 then return {1, used, now - start} end
local allowed = 1
if used > tonumber(ARGV[3]) and used + cost > limit then
  allowed = 0
  used = math.max(used, limit)
else used = used + cost end
redis.call('HSET', KEYS[1], 'start', string.format('%.0f', start), 'used', string.format('%.0f', used))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(1, math.ceil(used / limit)) * 1000))
return {allowed, used, now - start}`;

/** Creates a limiter that counts in Redis for all gateways together. While Redis is away, each counts for itself. */
export function createSharedSeconds(redis: Redis, clock: Pick<Clock, 'elapsed'>): SecondLimiter {
  const local = createLocalSeconds(clock);
  const ask = async (name: string | number, limit: number, cost: number, counted = 0) => {
    const answer = await redis.eval(TAKE, 1, `${PREFIX}${name}`, limit, cost, counted);
    const [allowed, used, sinceMs] = answer as [number, number, number];
    return secondVerdict(allowed === 1, limit, used, sinceMs, Math.max(0, cost));
  };
  return {
    async take(name, limit, cost, counted) {
      return ask(name, limit, cost, counted).catch(() => local.take(name, limit, cost, counted));
    },
    async peek(name, limit) {
      return ask(name, limit, PEEK).catch(() => local.peek(name, limit));
    },
    async close() {
      redis.disconnect();
    },
  };
}
