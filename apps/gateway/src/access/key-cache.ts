import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import type { Soon } from '../http/soon.js';

/** `ph_`, eight public letters or digits, `_`, 32 random bytes as base64url. */
const KEY_FORM = /^ph_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/;

/**
 * How long an answer of the database is used, counted from the query, in milliseconds. Revocation takes effect within a
 * second, even for a request that is about to use the answer.
 */
const TTL_MS = 900;

/** Most known and most unknown keys kept. */
const MAX_ENTRIES = 10_000;

/** API keys as in the database, at most a second old. */
export interface KeyCache {
  /** The key's row; null if the key is malformed or unknown. Throws DATABASE_UNAVAILABLE. */
  find(key: string): Soon<KeyRow | null>;
  /** Whether the key was found before: it is in use, and not a guess. */
  wasFound(key: string): boolean;
}

interface Entry {
  row: KeyRow | null;
  askedAt: number;
}

/**
 * Creates an empty cache. The database finds a key by its SHA-256 only. Here a key in use is found by its text, which
 * its requests have in memory anyway. Unknown keys have a separate map, so that guessing evicts no good key. A key has
 * one query at a time, and a key in use is queried again before its time is over, so that no request waits.
 */
export function createKeyCache(options: {
  find(sha256: Buffer): Promise<KeyRow | null>;
  clock: Clock;
}): KeyCache {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const asking = new Map<string, Promise<KeyRow | null>>();

  const ask = (key: string): Promise<KeyRow | null> => {
    let answer = asking.get(key);
    if (answer === undefined) {
      const askedAt = options.clock.elapsed();
      answer = options
        .find(hash('sha256', key, 'buffer'))
        .then((row) => {
          known.delete(key);
          unknown.delete(key);
          remember(row === null ? unknown : known, key, { row, askedAt });
          return row;
        })
        .finally(() => asking.delete(key));
      asking.set(key, answer);
    }
    return answer;
  };

  return {
    find(key) {
      const entry = known.get(key) ?? unknown.get(key);
      if (entry === undefined) return KEY_FORM.test(key) ? ask(key) : null;
      const age = options.clock.elapsed() - entry.askedAt;
      if (age >= TTL_MS) return ask(key);
      // The failure is thrown once the old answer is too old; this request still has a good one.
      if (age >= TTL_MS / 2 && !asking.has(key)) ask(key).catch(() => undefined);
      return entry.row;
    },
    wasFound: (key) => known.has(key),
  };
}

function remember(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.set(key, entry);
  if (entries.size <= MAX_ENTRIES) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    break;
  }
}
