import { addressBlock, type Clock, networkBlock, PackhouseError } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';

/** Whom attempts count for, and how many of a minute are heard. */
export interface Subject {
  name: string;
  most: number;
}

/** Failures of a minute that a console hears: of an address, of the network around it, of a name, of a known browser. */
export const MOST = { address: 20, network: 100, name: 30, known: 10 };

/** Whom an attempt from an address counts for. */
export function subjectsOf(address: string): Subject[] {
  return [
    { name: `address ${addressBlock(address)}`, most: MOST.address },
    { name: `network ${networkBlock(address)}`, most: MOST.network },
  ];
}

const MINUTE_MS = 60_000;
/** The least used are forgotten: what a flood costs is also bounded by the queue of checks. */
const MAX_SUBJECTS = 20_000;

interface Count {
  since: number;
  attempts: number;
  /** Until when Postgres hears none. */
  lockedUntil: number;
}

export type SignInLimiter = ReturnType<typeof createSignInLimiter>;

/** Counts the attempts of this process to sign in that failed or are not decided, so that a flood is no query. */
export function createSignInLimiter({ elapsed }: Pick<Clock, 'elapsed'>) {
  const counts = new LRUCache<string, Count>({ max: MAX_SUBJECTS });

  const find = (name: string): Count => {
    const now = elapsed();
    const known = counts.get(name);
    if (known !== undefined && (known.since + MINUTE_MS > now || known.lockedUntil > now)) return known;
    const count = { since: now, attempts: 0, lockedUntil: 0 };
    counts.set(name, count);
    return count;
  };

  const self = {
    /** Counts an attempt for each. Throws SIGN_IN_LOCKED, and counts nothing, if one of them must wait. */
    begin(subjects: readonly Subject[]): void {
      const now = elapsed();
      const waits = subjects.map(({ name, most }) => {
        const { attempts, lockedUntil, since } = find(name);
        return Math.max(lockedUntil - now, attempts < most ? 0 : since + MINUTE_MS - now);
      });
      const retryAfterMs = Math.max(...waits);
      if (retryAfterMs > 0) throw locked(retryAfterMs);
      for (const { name } of subjects) find(name).attempts += 1;
    },
    /** Takes back the count of an attempt that was no failure. */
    succeeded(subjects: readonly Subject[]): void {
      for (const { name } of subjects) {
        const count = counts.peek(name);
        if (count !== undefined && count.attempts > 0) count.attempts -= 1;
      }
    },
    /** Hears no attempt of this subject for so long. */
    lock({ name }: Subject, forMs: number): void {
      find(name).lockedUntil = elapsed() + forMs;
    },
    /** Counts an attempt, and takes it back if somebody is identified. Throws SIGN_IN_LOCKED. */
    async counted<T>(subjects: readonly Subject[], identify: () => Promise<T | null>): Promise<T | null> {
      self.begin(subjects);
      const person = await identify();
      if (person !== null) self.succeeded(subjects);
      return person;
    },
  };
  return self;
}

/** The error of an attempt that must wait. */
export function locked(retryAfterMs: number): PackhouseError {
  return new PackhouseError({
    code: 'SIGN_IN_LOCKED',
    message: `Too many failed attempts. Retry in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    hint: 'Or run `packhouse operators link NAME` for a one-time link.',
    data: { retryAfterMs },
  });
}
