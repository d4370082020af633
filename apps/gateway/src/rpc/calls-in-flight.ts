import { Problem } from '../http/problem.js';

/** Counts the calls of each key or address that are under way on one network. */
export interface CallsInFlight {
  /** Counts one; gives what ends it. Throws the problem `rate-limited` where `owner` has `limit` of them already. */
  enter(owner: number, limit: number): () => void;
}

/** Soon enough for calls that take milliseconds, late enough to be no busy loop. */
const RETRY_AFTER_SECONDS = 1;

/** Makes an empty count. */
export function createCallsInFlight(): CallsInFlight {
  const counts = new Map<number, number>();
  return {
    enter(owner, limit) {
      const count = counts.get(owner) ?? 0;
      if (count >= limit) {
        throw new Problem('rate-limited', {
          detail: `A key, or an address without one, has ${limit} calls in flight at most; wait for answers before asking more.`,
          members: { limit, window: 'in-flight', retryAfterMs: RETRY_AFTER_SECONDS * 1_000 },
          headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
        });
      }
      counts.set(owner, count + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        const now = (counts.get(owner) ?? 1) - 1;
        if (now === 0) counts.delete(owner);
        else counts.set(owner, now);
      };
    },
  };
}
