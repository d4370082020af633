import { DAY_MS, parseRedisAddress } from '@packhouse/runtime';
import { Redis } from 'ioredis';

/** Where the processes of an installation share what was taken of their budgets. */
export interface LeaseStore {
  /** The state of a budget, null if it has none; with the time of the store in milliseconds since 1970. */
  read(key: string): Promise<{ state: string | null; now: number }>;
  /** Stores a state if that before is still the one that was read; returns false if it is not. */
  swap(key: string, before: string | null, after: string): Promise<boolean>;
  /** Forgets a state: it begins again with what is counted of the month. */
  forget(key: string): Promise<void>;
}

const PREFIX = 'packhouse:budget:';
/** Longer than a month, which is the longest that is counted. */
const KEPT_MS = 35 * DAY_MS;
const COMMAND_MS = 2_000;
/** A connection that owes an answer for so long is made anew. */
const ANSWER_MS = 5_000;

const READ = `
local t = redis.call('TIME')
return {redis.call('GET', KEYS[1]), t[1], t[2]}`;

const SWAP = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

/** Shares budgets in Redis. Commands fail within two seconds while it is away; it is connected again by itself. */
export function createRedisLeases(url: string): LeaseStore & { close(): void } {
  const redis = new Redis({
    ...parseRedisAddress(url),
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_MS,
    socketTimeout: ANSWER_MS,
  });
  // The caller of a command gets its error.
  redis.on('error', () => undefined);
  return {
    async read(key) {
      const [state, seconds, micros] = (await redis.eval(READ, 1, PREFIX + key)) as [
        string | null,
        string,
        string,
      ];
      return { state, now: Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000) };
    },
    swap: async (key, before, after) =>
      (await redis.eval(SWAP, 1, PREFIX + key, before ?? '', after, KEPT_MS)) === 1,
    forget: async (key) => void (await redis.del(PREFIX + key)),
    close: () => redis.disconnect(),
  };
}
