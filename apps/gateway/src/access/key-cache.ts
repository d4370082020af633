import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import { type Clock, getOrAdd, isApiKey } from '@packhouse/runtime';
import type { MaybePromise } from '../http/maybe-promise.js';

/**
 * How long an answer of the database is used, counted from the query, in milliseconds. Revocation takes effect within a
 * second, even for a request that is about to use the answer.
 */
const TTL_MS = 900;

/** Most known and most unknown keys kept. */
const MAX_ENTRIES = 10_000;

/** API keys as in the database, at most a second old. */
export type KeyCache = ReturnType<typeof createKeyCache>;

interface Entry {
  row: KeyRow | null;
  queriedAt: number;
}

/**
 * Creates an empty cache. The database finds a key by its SHA-256 only. Here a key in use is found by its text, which
 * its requests have in memory anyway. Unknown keys have a separate map, so that guessing evicts no good key. A key has
 * one query at a time, and a key in use is queried again before its time is over, so that no request waits.
 */
export function createKeyCache(options: { find(sha256: Buffer): Promise<KeyRow | null>; clock: Clock }) {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const pending = new Map<string, Promise<KeyRow | null>>();

  const query = (key: string): Promise<KeyRow | null> => {
    const queriedAt = options.clock.elapsed();
    const ask = async (): Promise<KeyRow | null> => {
      const row = await options.find(hash('sha256', key, 'buffer'));
      known.delete(key);
      unknown.delete(key);
      remember(row === null ? unknown : known, key, { row, queriedAt });
      return row;
    };
    return getOrAdd(pending, key, () => ask().finally(() => pending.delete(key)));
  };

  return {
    /** The key's row; null if the key is malformed or unknown. Throws DATABASE_UNAVAILABLE. */
    find(key: string): MaybePromise<KeyRow | null> {
      const entry = known.get(key) ?? unknown.get(key);
      if (entry === undefined) return isApiKey(key) ? query(key) : null;
      const age = options.clock.elapsed() - entry.queriedAt;
      if (age >= TTL_MS) return query(key);
      // The failure is thrown once the old answer is too old; this request still has a good one.
      if (age >= TTL_MS / 2 && !pending.has(key)) query(key).catch(() => undefined);
      return entry.row;
    },
    /** Whether the key was found before: it is in use, and not a guess. */
    wasFound: (key: string): boolean => known.has(key),
  };
}

function remember(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.set(key, entry);
  if (entries.size <= MAX_ENTRIES) return;
  const [oldest] = entries.keys();
  entries.delete(oldest as string);
}
