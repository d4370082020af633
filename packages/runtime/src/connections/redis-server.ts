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
