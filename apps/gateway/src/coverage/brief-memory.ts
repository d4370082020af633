import type { Clock } from '@packhouse/runtime';

/** Remembers answers for a moment. */
export type BriefMemory = <T>(name: string, make: () => Promise<T>) => Promise<T>;

interface Entry {
  askedAt: number;
  answer: Promise<unknown>;
}

/**
 * Makes an empty memory: whoever asks the same within `ttlMs` milliseconds gets the same answer, also one that is
 * still on its way. Failures are forgotten at once; of more than `maxEntries` the oldest go.
 */
export function createBriefMemory(options: { clock: Clock; ttlMs: number; maxEntries: number }): BriefMemory {
  const entries = new Map<string, Entry>();
  return <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const askedAt = options.clock.now();
    const there = entries.get(name);
    if (there !== undefined && askedAt >= there.askedAt && askedAt - there.askedAt < options.ttlMs) {
      return there.answer as Promise<T>;
    }
    const entry: Entry = { askedAt, answer: make() };
    entries.delete(name);
    entries.set(name, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= options.maxEntries) break;
      entries.delete(oldest);
    }
    entry.answer.catch(() => {
      if (entries.get(name) === entry) entries.delete(name);
    });
    return entry.answer as Promise<T>;
  };
}
