import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';

/** `ph_`, eight public letters or digits, `_`, 32 random bytes as base64url. */
const KEY_FORM = /^ph_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/;

/**
 * How long an answer of the database counts, from the moment it was asked: revocation takes effect within a second,
 * also for a request that was about to use the answer.
 */
const TTL_MS = 900;

/** Keys and non-keys remembered, each. */
const MAX_ENTRIES = 10_000;

/** API keys as the database knows them, at most a second old. */
export interface KeyCache {
  /** The key's row; null where it is malformed or unknown. Throws DATABASE_UNAVAILABLE. */
  find(key: string): Promise<KeyRow | null>;
}

interface Entry {
  row: KeyRow | null;
  askedAt: number;
}

/**
 * Makes an empty cache. Keys are held as their SHA-256 only, and compared by it: what an attacker could learn from
 * the time of a look-up is about hashes that he cannot steer. Unknown keys have a map of their own, so that guessing
 * pushes no good key out; one query a key is in flight, and a key in use is asked for again before its time is over,
 * so that no request waits for it.
 */
export function createKeyCache(options: {
  find(sha256: Buffer): Promise<KeyRow | null>;
  clock: Clock;
}): KeyCache {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const asking = new Map<string, Promise<KeyRow | null>>();

  const ask = (digest: string): Promise<KeyRow | null> => {
    let answer = asking.get(digest);
    if (answer === undefined) {
      const askedAt = options.clock.now();
      answer = options
        .find(Buffer.from(digest, 'hex'))
        .then((row) => {
          known.delete(digest);
          unknown.delete(digest);
          remember(row === null ? unknown : known, digest, { row, askedAt });
          return row;
        })
        .finally(() => asking.delete(digest));
      asking.set(digest, answer);
    }
    return answer;
  };

  return {
    async find(key) {
      if (!KEY_FORM.test(key)) return null;
      const digest = hash('sha256', key, 'hex');
      const entry = known.get(digest) ?? unknown.get(digest);
      if (entry === undefined) return ask(digest);
      const age = options.clock.now() - entry.askedAt;
      if (age < 0 || age >= TTL_MS) return ask(digest);
      // Whoever asks too late gets the failure; this one still has a good answer.
      if (age >= TTL_MS / 2 && !asking.has(digest)) ask(digest).catch(() => undefined);
      return entry.row;
    },
  };
}

function remember(entries: Map<string, Entry>, digest: string, entry: Entry): void {
  entries.set(digest, entry);
  if (entries.size <= MAX_ENTRIES) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    break;
  }
}
