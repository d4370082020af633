import { PackhouseError } from './errors.js';

interface Place {
  host: string;
  port: number;
}

/** How to reach a Redis, as ioredis takes it: one server, or a master that Sentinels know by name. */
export type RedisTarget = {
  username?: string;
  password?: string;
  db: number;
  /** Connects again and repeats the command if the server has become a replica, which takes no writes. */
  reconnectOnError(error: Error): 2 | false;
} & (
  | (Place & { tls?: Record<string, never> })
  | {
      sentinels: Place[];
      name: string;
      /** Hears of a failover from the Sentinels: the master of before may not end its connections. */
      failoverDetector: true;
      sentinelCommandTimeout: number;
      /** Milliseconds until all Sentinels are asked again; null would end the connection for good. */
      sentinelRetryStrategy(tries: number): number | null;
    }
);

const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;
const SENTINEL_MS = 2_000;
const ADDRESS =
  /^(redis|rediss|redis\+sentinel):\/\/(?:([^@/?#:]*)(?::([^@/?#]*))?@)?([^@/?#]+)((?:\/[^/?#]*)*)(?:\?[^#]*)?$/;
const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/;

/**
 * Reads `redis://[user:password@]host[:port][/db]`, the same with `rediss` for TLS, or
 * `redis+sentinel://[user:password@]host[:port],…/master[/db]`. Options behind `?` are ignored. Throws SETTINGS_INVALID
 * without repeating the address, which may have a password.
 */
export function parseRedisAddress(address: string): RedisTarget {
  const [, scheme, user, password, hosts, path] = ADDRESS.exec(address) ?? [];
  const places = (hosts ?? '').split(',').map((host) => HOST.exec(host));
  const segments = (path ?? '').split('/').slice(1);
  const sentinel = scheme === 'redis+sentinel';
  const name = sentinel ? segments.shift() : undefined;
  const [db = '', ...more] = segments;
  const wrong =
    places.includes(null) ||
    (sentinel ? (name ?? '') === '' : places.length > 1) ||
    !/^\d{0,4}$/.test(db) ||
    more.length > 0;
  if (wrong)
    throw new PackhouseError({
      code: 'SETTINGS_INVALID',
      message: 'The address of Redis is malformed.',
      hint: 'Give redis://host:6379, rediss://host:6379 or redis+sentinel://host:26379,host:26379/master.',
    });
  const [first, ...others] = places.map((place) => ({
    host: (place?.[1] ?? '').replace(/^\[|\]$/g, ''),
    port: Number(place?.[2] ?? (sentinel ? SENTINEL_PORT : REDIS_PORT)),
  })) as [Place, ...Place[]];
  const common = {
    ...(user ? { username: decodeURIComponent(user) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    db: Number(db),
    reconnectOnError: (error: Error) => (error.message.includes('READONLY') ? 2 : false) as 2 | false,
  };
  if (name === undefined) return { ...common, ...first, ...(scheme === 'rediss' ? { tls: {} } : {}) };
  return {
    ...common,
    sentinels: [first, ...others],
    name: decodeURIComponent(name),
    failoverDetector: true,
    sentinelCommandTimeout: SENTINEL_MS,
    sentinelRetryStrategy: (tries) => Math.min(100 * tries, SENTINEL_MS),
  };
}

/** Whether it can be read. */
export function isRedisAddress(address: string): boolean {
  try {
    parseRedisAddress(address);
    return true;
  } catch {
    return false;
  }
}
