import { BoundedLru } from '../files/bounded-lru.js';
import type { SharedAnswers } from './shared-answers.js';

/** Results that can never change, by network, method and parameters. */
export interface AnswerCache {
  get(name: string): Buffer | undefined;
  /** Looks where all gateways share what they know; absent where there is no such place. */
  far?(name: string): Promise<Buffer | undefined>;
  /** Keeps a result; what is larger than an eighth of the cache is not worth its place. */
  set(name: string, result: Buffer): void;
  readonly bytes: number;
}

/** What an entry costs beside its bytes. */
const OVERHEAD = 200;

/** Makes an empty cache of so many bytes, before one that is shared with others where there is one. */
export function createAnswerCache(maxBytes: number, shared?: SharedAnswers): AnswerCache {
  const results = new BoundedLru<Buffer>(maxBytes);
  const keep = (name: string, result: Buffer): void => {
    const size = result.length + name.length + OVERHEAD;
    // A copy, so that a small result does not keep a large buffer of the connection alive.
    if (size <= maxBytes / 8) results.set(name, Buffer.from(result), size);
  };
  return {
    get: (name) => results.get(name),
    set(name, result) {
      keep(name, result);
      shared?.set(name, result);
    },
    ...(shared === undefined
      ? {}
      : {
          far: async (name: string) => {
            const found = await shared.get(name);
            if (found !== undefined) keep(name, found);
            return found;
          },
        }),
    get bytes() {
      return results.size;
    },
  };
}
