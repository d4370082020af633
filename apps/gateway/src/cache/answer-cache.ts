import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';

/** Results that never change, by network, method and parameters. */
export interface AnswerCache {
  get(name: string): Buffer | undefined;
  /** Looks in the results that all gateways share; absent if they share none. */
  shared?(name: string): Promise<Buffer | undefined>;
  /**
   * Keeps a result, unless it is larger than an eighth of the cache; a large one when it comes for the second time: most are
   * asked for once.
   */
  set(name: string, result: Kept): void;
  readonly bytes: number;
}

/** A result as it came. */
interface Kept {
  readonly bytes: Buffer;
  readonly pieces?: readonly Buffer[];
}

/** Bytes of an entry beside its result. */
const OVERHEAD = 200;
/** Results up to this size are kept when they come for the first time. */
const SMALL_BYTES = 65_536;
/** Bytes of the names of larger ones that came once. */
const SEEN_BYTES = 1_048_576;

/** Creates an empty cache of `maxBytes`, in front of the shared one if there is one. */
export function createAnswerCache(maxBytes: number, shared?: SharedAnswers): AnswerCache {
  const results = new LRUCache<string, Buffer>({ maxSize: maxBytes });
  const keep = (name: string, result: Buffer): void => {
    const size = result.length + name.length + OVERHEAD;
    // A copy, so that a small result does not keep a large buffer of the connection alive.
    if (size <= maxBytes / 8) results.set(name, Buffer.from(result), { size });
  };
  const seen = new LRUCache<string, true>({
    maxSize: SEEN_BYTES,
    sizeCalculation: (_, name) => name.length + 1,
  });
  const cache: AnswerCache = {
    get: (name) => results.get(name),
    set(name, result) {
      // Bytes in pieces are joined when they are read.
      const size = result.pieces?.reduce((sum, { length }) => sum + length, 0) ?? result.bytes.length;
      if (size > SMALL_BYTES && !seen.has(name)) {
        seen.set(name, true);
        return;
      }
      keep(name, result.bytes);
      shared?.set(name, result.bytes);
    },
    get bytes() {
      return results.calculatedSize;
    },
  };
  if (shared !== undefined) {
    cache.shared = async (name) => {
      const found = await shared.get(name);
      if (found !== undefined) keep(name, found);
      return found;
    };
  }
  return cache;
}

/** Results about final blocks that all gateways share, behind the cache of each. */
export interface SharedAnswers {
  /** Undefined if there is none or the store is away. Never rejects. */
  get(name: string): Promise<Buffer | undefined>;
  /** Keeps a result if it is not too large and the store is there. */
  set(name: string, result: Buffer): void;
}

/** Larger results are not worth the round trip to Redis. */
const MAX_SHARED_BYTES = 262_144;
const TTL_MS = 3_600_000;

/** Creates them on Redis; while Redis is away, there are none. */
export function createSharedAnswers(redis: Redis): SharedAnswers {
  const toRedisKey = (name: string): string => `packhouse:answer:${hash('sha256', name, 'base64url')}`;
  return {
    async get(name) {
      if (redis.status !== 'ready') return undefined;
      const found = await redis.getBuffer(toRedisKey(name)).catch(() => null);
      return found ?? undefined;
    },
    set(name, result) {
      if (result.length > MAX_SHARED_BYTES || redis.status !== 'ready') return;
      redis.set(toRedisKey(name), result, 'PX', TTL_MS).catch(() => undefined);
    },
  };
}
