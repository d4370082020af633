import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** Results about final blocks that all gateways share, behind each one's own memory. */
export interface SharedAnswers {
  /** Undefined where there is none, and where the store is away. Never rejects. */
  get(name: string): Promise<Buffer | undefined>;
  /** Keeps a result that is not too large, if it can. */
  set(name: string, result: Buffer): void;
}

/** Larger results are not worth the way to Redis and back. */
const MAX_BYTES = 262_144;
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
      if (result.length > MAX_BYTES || redis.status !== 'ready') return;
      redis.set(keyOf(name), result, 'PX', TTL_MS).catch(() => undefined);
    },
  };
}
