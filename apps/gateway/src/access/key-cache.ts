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

/** Keys that are looked up by one query, at most, and the pause behind it, in milliseconds. */
const MAX_SUSPECTS = 1_000;
const SUSPECTS_PAUSE_MS = 20;

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
 *
 * Suspects, which come from an address that sends keys that are not valid, wait for one query for all of them: good
 * keys behind the same address are found, and guessing costs the database no more.
 */
export function createKeyCache(options: {
  find(sha256: Buffer): Promise<KeyRow | null>;
  findAmong(sha256s: readonly Buffer[]): Promise<ReadonlyMap<string, KeyRow>>;
  clock: Clock;
}) {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const pending = new Map<string, Promise<KeyRow | null>>();

  const query = (key: string, ask = options.find): Promise<KeyRow | null> => {
    const queriedAt = options.clock.elapsed();
    const read = async (): Promise<KeyRow | null> => {
      const row = await ask(hash('sha256', key, 'buffer'));
      known.delete(key);
      unknown.delete(key);
      remember(row === null ? unknown : known, key, { row, queriedAt });
      return row;
    };
    return getOrAdd(pending, key, () => read().finally(() => pending.delete(key)));
  };
  const findSuspect = createJointFind(options);

  return {
    /** The key's row; null if the key is malformed or unknown. Throws DATABASE_UNAVAILABLE. */
    find(key: string, isSuspect = false): MaybePromise<KeyRow | null> {
      const entry = known.get(key) ?? unknown.get(key);
      const ask = isSuspect ? findSuspect : options.find;
      if (entry === undefined) return isApiKey(key) ? query(key, ask) : null;
      const age = options.clock.elapsed() - entry.queriedAt;
      if (age >= TTL_MS) return query(key, ask);
      // The failure is thrown once the old answer is too old; this request still has a good one.
      if (age >= TTL_MS / 2 && !pending.has(key)) query(key, ask).catch(() => undefined);
      return entry.row;
    },
    /** Whether the key was found before: it is in use, and not a guess. */
    wasFound: (key: string): boolean => known.has(key),
  };
}

/** Finds keys by one query at a time, of all that are asked for meanwhile, with a pause behind it. */
function createJointFind({
  findAmong,
  clock,
}: Pick<Parameters<typeof createKeyCache>[0], 'findAmong' | 'clock'>) {
  type Found = ReadonlyMap<string, KeyRow>;
  const waiting: { sha256: Buffer; take(found: Promise<Found>): void }[] = [];
  let working = false;
  const work = async (): Promise<void> => {
    working = true;
    while (waiting.length > 0) {
      const asked = waiting.splice(0, MAX_SUSPECTS);
      const found = findAmong(asked.map(({ sha256 }) => sha256));
      for (const { take } of asked) take(found);
      await found.catch(() => undefined);
      await clock.sleep(SUSPECTS_PAUSE_MS);
    }
    working = false;
  };
  return async (sha256: Buffer): Promise<KeyRow | null> => {
    const found = new Promise<Found>((resolve) => {
      waiting.push({ sha256, take: resolve });
    });
    if (!working) void work();
    return (await found).get(sha256.toString('hex')) ?? null;
  };
}

function remember(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.set(key, entry);
  if (entries.size <= MAX_ENTRIES) return;
  const [oldest] = entries.keys();
  entries.delete(oldest as string);
}
