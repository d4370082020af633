import { PackhouseError } from './catalogue.js';

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

/** The oldest that has every command that is used. */
const MIN_VERSION = [6, 2] as const;

/** Why a Redis cannot be used, and what to do. */
interface RedisFault {
  message: string;
  hint: string;
}

/**
 * What of a server's answer to INFO rules it out; undefined if nothing does. A server that evicts drops running jobs,
 * counts of budgets and filters without a word; a node of a cluster refuses the keys of others.
 */
export function findRedisFault(info: string): RedisFault | undefined {
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const version = field('redis_version');
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  if (
    version !== undefined &&
    (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]))
  )
    return { message: `it has version ${version}`, hint: 'Use Redis 6.2 or later.' };
  if (field('cluster_enabled') === '1')
    return {
      message: 'it is a node of a cluster, whose nodes have a part of the keys each',
      hint: 'Use one Redis, or one behind Sentinel: REDIS_URL=redis+sentinel://host:26379/master.',
    };
  const policy = field('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    return {
      message: `its maxmemory-policy is ${policy}, which drops jobs, budgets and filters when memory is full`,
      hint: 'Set maxmemory-policy to noeviction, or use a Redis that others do not use as a cache.',
    };
  return undefined;
}

/** Whether a server's answer to INFO says that it only copies another one, and takes no writes. */
export function isRedisReplica(info: string): boolean {
  return /^role:(slave|replica)\r?$/m.test(info);
}
