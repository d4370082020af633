import { BoundedLru } from '../files/bounded-lru.js';

/** Results that can never change, by network, method and parameters. */
export interface AnswerCache {
  get(name: string): Buffer | undefined;
  /** Keeps a result; what is larger than an eighth of the cache is not worth its place. */
  set(name: string, result: Buffer): void;
  readonly bytes: number;
}

/** What an entry costs beside its bytes. */
const OVERHEAD = 200;

/** Makes an empty cache of so many bytes. */
export function createAnswerCache(maxBytes: number): AnswerCache {
  const results = new BoundedLru<Buffer>(maxBytes);
  return {
    get: (name) => results.get(name),
    set(name, result) {
      const size = result.length + name.length + OVERHEAD;
      if (size > maxBytes / 8) return;
      // A copy, so that a small result does not keep a large buffer of the connection alive.
      results.set(name, Buffer.from(result), size);
    },
    get bytes() {
      return results.size;
    },
  };
}
