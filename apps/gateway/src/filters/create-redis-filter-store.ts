import { DAY_MS } from '@packhouse/runtime';
import type { Redis } from 'ioredis';
import { Problem } from '../http/problem.js';
import type { FilterStore } from './filter-state.js';

const PREFIX = 'packhouse:filter';
/** Members `<network> <id>` by the time at which the filter ends, in milliseconds. */
const ALL = `${PREFIX}s`;
const ofKey = (keyId: number): string => `${PREFIX}s-of:${keyId}`;
const filterKey = (id: Buffer): string => `${PREFIX}:${id.toString('hex')}`;
const pendingKey = (network: string): string => `packhouse:pending:${network}`;
const sequenceKey = (network: string): string => `packhouse:pending-sequence:${network}`;

/** Filters expire after five minutes without a poll, so every filter has seen older entries. */
const PENDING_TTL_MS = 600_000;
/** Longer than any filter lives, so that numbering does not restart while a filter has a number. */
const SEQUENCE_TTL_MS = DAY_MS;
/** Most pending transactions kept for one network. */
const PENDING_RING = 100_000;

/** Milliseconds since the epoch, on Redis's clock, which all gateways share. */
const NOW = `local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)`;

/** KEYS filter, filters of the key, all; ARGV network, key id, state, ttl, most of the key, id. */
const CREATE = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[5]) then return 0 end
local ends = now + math.floor(tonumber(ARGV[4]))
redis.call('HSET', KEYS[1], 'network', ARGV[1], 'key', ARGV[2], 'state', ARGV[3], 'version', 1)
redis.call('PEXPIREAT', KEYS[1], ends)
redis.call('ZADD', KEYS[2], ends, ARGV[6])
if redis.call('PTTL', KEYS[2]) < ends - now then redis.call('PEXPIREAT', KEYS[2], ends) end
redis.call('ZADD', KEYS[3], ends, ARGV[1] .. ' ' .. ARGV[6])
return 1`;

/** KEYS filter, all; ARGV version seen, state, ttl, id, prefix of the filters of a key. */
const UPDATE = `${NOW}
local was = redis.call('HMGET', KEYS[1], 'version', 'network', 'key')
if was[1] ~= ARGV[1] then return false end
local ends = now + math.floor(tonumber(ARGV[3]))
local version = tonumber(was[1]) % 2000000000 + 1
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'version', version)
redis.call('PEXPIREAT', KEYS[1], ends)
local owner = ARGV[5] .. was[3]
redis.call('ZADD', owner, ends, ARGV[4])
if redis.call('PTTL', owner) < ends - now then redis.call('PEXPIREAT', owner, ends) end
redis.call('ZADD', KEYS[2], ends, was[2] .. ' ' .. ARGV[4])
return version`;

/** KEYS filter, filters of the key, all; ARGV network, key id, id. */
const REMOVE = `
local was = redis.call('HMGET', KEYS[1], 'network', 'key')
if was[1] ~= ARGV[1] or was[2] ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[3])
redis.call('ZREM', KEYS[3], ARGV[1] .. ' ' .. ARGV[3])
return 1`;

/** KEYS all. */
const LIVING = `${NOW} return redis.call('ZRANGEBYSCORE', KEYS[1], now, '+inf')`;
const SWEEP = `${NOW} return redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)`;

/** KEYS ring, sequence; ARGV life of the ring, life of the sequence, size of the ring, hashes. */
const ADD_PENDING = `
for at = 4, #ARGV do
  if not redis.call('ZSCORE', KEYS[1], ARGV[at]) then
    redis.call('ZADD', KEYS[1], redis.call('INCR', KEYS[2]), ARGV[at])
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
return 0`;

/**
 * Creates the store of filters on Redis. While Redis is away it throws the problem `unavailable` (-32002) instead of
 * reporting that a filter does not exist.
 */
export function createRedisFilterStore(redis: Redis): FilterStore {
  const run = (script: string, keys: string[], args: (string | number)[]): Promise<unknown> =>
    reach(redis.eval(script, keys.length, ...keys, ...args));
  return {
    create: async ({ id, network, keyId, state, ttlMs, maxOfKey }) => {
      const keys = [filterKey(id), ofKey(keyId), ALL];
      return (await run(CREATE, keys, [network, keyId, state, ttlMs, maxOfKey, id.toString('hex')])) === 1;
    },
    get: async (id) => {
      const { network, key, state, version } = await reach(redis.hgetall(filterKey(id)));
      if (network === undefined || state === undefined) return null;
      return { network, keyId: Number(key), state, version: Number(version) };
    },
    update: async ({ id, version, state, ttlMs }) => {
      const args = [version, state, ttlMs, id.toString('hex'), ofKey(0).slice(0, -1)];
      return (await run(UPDATE, [filterKey(id), ALL], args)) as number | null;
    },
    remove: async ({ id, network, keyId }) => {
      const keys = [filterKey(id), ofKey(keyId), ALL];
      return (await run(REMOVE, keys, [network, keyId, id.toString('hex')])) === 1;
    },
    count: async () => {
      const living = (await run(LIVING, [ALL], [])) as string[];
      const counts = new Map<string, number>();
      for (const member of living) {
        const network = member.slice(0, member.indexOf(' '));
        counts.set(network, (counts.get(network) ?? 0) + 1);
      }
      return counts;
    },
    // Filters expire by themselves; this removes them from the list.
    sweep: async () => void (await run(SWEEP, [ALL], [])),
    addPending: async (network, hashes) => {
      if (hashes.length === 0) return;
      const keys = [pendingKey(network), sequenceKey(network)];
      await run(ADD_PENDING, keys, [PENDING_TTL_MS, SEQUENCE_TTL_MS, PENDING_RING, ...hashes]);
    },
    newestPending: async (network) => Number((await reach(redis.get(sequenceKey(network)))) ?? 0),
    pendingAfter: async (network, sequence, limit) => {
      const range = [`(${sequence}`, '+inf', 'WITHSCORES', 'LIMIT', 0, limit] as const;
      const found = await reach(redis.zrangebyscore(pendingKey(network), ...range));
      return {
        hashes: found.filter((_, at) => at % 2 === 0),
        sequence: found.length === 0 ? sequence : Number(found.at(-1)),
      };
    },
  };
}

async function reach<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (cause) {
    throw new Problem('unavailable', {
      detail: 'The filter store is unavailable; filters are kept. Try again in 1 second.',
      retryAfter: 1,
      cause,
    });
  }
}
