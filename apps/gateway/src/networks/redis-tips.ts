import type { SharedTips } from '@packhouse/node-rpc';
import type { Redis } from 'ioredis';

const TAGS = ['latest', 'safe', 'finalized'] as const;
const keyOf = (network: string, tag: string): string => `packhouse:tip:${network}:${tag}`;

/** KEYS number; ARGV number, milliseconds that it counts. A higher one that still counts stays as it is. */
const RAISE = `
local is = tonumber(redis.call('GET', KEYS[1]))
if is and is > tonumber(ARGV[1]) then return is end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return tonumber(ARGV[1])`;

/** The newest block numbers that gateways told, on Redis. Rejects while Redis is away. */
export function createRedisTips(redis: Redis): SharedTips {
  return {
    raise: async (network, tag, number, holdMs) =>
      Number(await redis.eval(RAISE, 1, keyOf(network, tag), number, holdMs)),
    read: async (network) => {
      const found = await redis.mget(TAGS.map((tag) => keyOf(network, tag)));
      return Object.fromEntries(
        TAGS.flatMap((tag, at) => (typeof found[at] === 'string' ? [[tag, Number(found[at])]] : [])),
      );
    },
  };
}
