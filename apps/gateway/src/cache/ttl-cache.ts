import type { Clock } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';

interface Entry {
  askedAt: number;
  answer: Promise<unknown>;
}

/**
 * Creates a cache of recent answers: the same question within `ttlMs` milliseconds gets the same answer, even one still
 * in progress. Failures are dropped at once, and the oldest entries beyond `maxEntries`.
 */
export function createTtlCache(
  clock: Pick<Clock, 'elapsed'>,
  ttlMs: number,
  maxEntries: number,
): <T>(name: string, ask: () => Promise<T>) => Promise<T> {
  const entries = new LRUCache<string, Entry>({ max: maxEntries });
  return <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    const askedAt = clock.elapsed();
    const known = entries.peek(name);
    if (known !== undefined && askedAt - known.askedAt < ttlMs) {
      return known.answer as Promise<T>;
    }
    const answer = ask();
    const entry: Entry = { askedAt, answer };
    entries.set(name, entry);
    answer.catch(() => {
      if (entries.peek(name) === entry) entries.delete(name);
    });
    return answer;
  };
}
