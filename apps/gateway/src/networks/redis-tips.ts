import type { SharedTips } from '@packhouse/node-rpc';
import type { Redis } from 'ioredis';

const TAGS = ['latest', 'safe', 'finalized'] as const;
const toRedisKey = (network: string, tag: string): string => `packhouse:tip:${network}:${tag}`;
const getGateways = (network: string): string => `packhouse:gateways:${network}`;

/** KEYS number; ARGV number, milliseconds that it counts. A higher one that still counts stays as it is. */
const RAISE = `
local is = tonumber(redis.call('GET', KEYS[1]))
if is and is > tonumber(ARGV[1]) then return is end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return tonumber(ARGV[1])`;

/** KEYS number; ARGV number, or nothing for none. A lower one stays as it is. */
const LOWER = `
local is = tonumber(redis.call('GET', KEYS[1]))
if not is or is <= (tonumber(ARGV[1]) or -1) then return end
if ARGV[1] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL') end`;

const toEpochKey = (network: string): string => `packhouse:epoch:${network}`;
/** Answers are shared for an hour. */
const EPOCH_MS = 86_400_000;

/** KEYS epoch; ARGV the least that it is afterwards, milliseconds that it counts. */
const RAISE_EPOCH = `
local epoch = math.max((tonumber(redis.call('GET', KEYS[1])) or 0) + 1, tonumber(ARGV[1]))
redis.call('SET', KEYS[1], epoch, 'PX', ARGV[2])
return epoch`;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** KEYS gateways; ARGV id, milliseconds that it is there. */
const ANNOUNCE = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], 60000)`;

/** KEYS numbers, gateways. Returns the numbers and a list of ids. */
const READ = `${NOW}
local found = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
found[4] = redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. string.format('%.0f', now), '+inf')
return found`;

/** The newest block numbers that gateways told, on Redis. Rejects while Redis is away. */
export function createRedisTips(redis: Redis): SharedTips {
  return {
    raise: async (network, tag, number, holdMs) =>
      Number(await redis.eval(RAISE, 1, toRedisKey(network, tag), number, holdMs)),
    lower: async (network, tag, number) => {
      await redis.eval(LOWER, 1, toRedisKey(network, tag), number ?? '');
    },
    read: async (network) => {
      const keys = [...TAGS.map((tag) => toRedisKey(network, tag)), getGateways(network)];
      const found = (await redis.eval(READ, 4, keys)) as [...(string | null)[], string[]];
      const numbers = TAGS.flatMap((tag, at) =>
        typeof found[at] === 'string' ? [[tag, Number(found[at])] as const] : [],
      );
      return { ...Object.fromEntries(numbers), gateways: found[3] as string[] };
    },
    readEpoch: async (network) => Number((await redis.get(toEpochKey(network))) ?? 0),
    raiseEpoch: async (network, atLeast) =>
      Number(await redis.eval(RAISE_EPOCH, 1, toEpochKey(network), atLeast, EPOCH_MS)),
    announce: async (network, id, forMs) => {
      await redis.eval(ANNOUNCE, 1, getGateways(network), id, forMs);
    },
  };
}
