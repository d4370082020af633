import type { Clock } from '@packhouse/runtime';
import type { Redis } from 'ioredis';
import { createLocalSeconds, secondVerdict } from './local-seconds.js';
import type { SecondLimiter } from './rate-limiter.js';

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
