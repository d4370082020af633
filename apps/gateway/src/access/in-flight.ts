import { Problem } from '../http/problem.js';

/** Counts what each key or address has under way on one network. */
interface InFlight {
  /** Counts one; the returned function ends it. Throws the problem `rate-limited` if `owner` has `limit` already. */
  enter(owner: number, limit: number): () => void;
}

/** Short enough for what takes milliseconds, long enough to prevent a busy loop. */
const RETRY_AFTER_SECONDS = 1;

/** Creates a counter of requests that are dear; `what` names them in the refusal, in the plural. */
export function createInFlight(what: string): InFlight {
  const counts = new Map<number, number>();
  return {
    enter(owner, limit) {
      const count = counts.get(owner) ?? 0;
      if (count >= limit) {
        throw new Problem('rate-limited', {
          detail: `A key, or an address without one, has ${limit} ${what} in flight at most; wait for answers before asking more.`,
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
