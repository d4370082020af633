import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';

/** Results that can never change, by network, method and parameters. */
export interface AnswerCache {
  get(name: string): Buffer | undefined;
  /** Looks where all gateways share their results; absent if they share none. */
  far?(name: string): Promise<Buffer | undefined>;
  /** Keeps a result; one that is larger than an eighth of the cache is not worth its place. */
  set(name: string, result: Buffer): void;
  readonly bytes: number;
}

/** Bytes that an entry costs beside its result. */
const OVERHEAD = 200;

/** Makes an empty cache of so many bytes, in front of one that is shared with others if there is one. */
export function createAnswerCache(maxBytes: number, shared?: SharedAnswers): AnswerCache {
  const results = new LRUCache<string, Buffer>({ maxSize: maxBytes });
  const keep = (name: string, result: Buffer): void => {
    const size = result.length + name.length + OVERHEAD;
    // A copy, so that a small result does not keep a large buffer of the connection alive.
    if (size <= maxBytes / 8) results.set(name, Buffer.from(result), { size });
  };
  const cache: AnswerCache = {
    get: (name) => results.get(name),
    set(name, result) {
      keep(name, result);
      shared?.set(name, result);
    },
    get bytes() {
      return results.calculatedSize;
    },
  };
  if (shared !== undefined) {
    cache.far = async (name) => {
      const found = await shared.get(name);
      if (found !== undefined) keep(name, found);
      return found;
    };
  }
  return cache;
}

/** Results about final blocks that all gateways share, behind the memory of each. */
export interface SharedAnswers {
  /** Undefined if there is none or the store is away. Never rejects. */
  get(name: string): Promise<Buffer | undefined>;
  /** Keeps a result that is not too large, if it can. */
  set(name: string, result: Buffer): void;
}

/** Larger results are not worth the way to Redis and back. */
const MAX_SHARED_BYTES = 262_144;
const TTL_MS = 3_600_000;

/** Makes them on Redis; while that is away, everything is as if there were none. */
export function createSharedAnswers(redis: Redis): SharedAnswers {
  const keyOf = (name: string): string => `packhouse:answer:${hash('sha256', name, 'base64url')}`;
  return {
    async get(name) {
      if (redis.status !== 'ready') return undefined;
      const found = await redis.getBuffer(keyOf(name)).catch(() => null);
      return found ?? undefined;
    },
    set(name, result) {
      if (result.length > MAX_SHARED_BYTES || redis.status !== 'ready') return;
      redis.set(keyOf(name), result, 'PX', TTL_MS).catch(() => undefined);
    },
  };
}
