import { Problem } from '../http/problem.js';

/** Short enough for what takes milliseconds, long enough to prevent a busy loop. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Returns a function that counts a request of an owner (a key or an address) as under way on one network; what that
 * returns ends it. Throws the problem `rate-limited` if the owner has `limit` already. `what` names such requests in the
 * refusal, in the plural.
 */
export function createInFlight(what: string): (owner: number, limit: number) => () => void {
  const counts = new Map<number, number>();
  return (owner, limit) => {
    const count = counts.get(owner) ?? 0;
    if (count >= limit) {
      throw new Problem('rate-limited', {
        detail: `A key, or an address without one, may have ${limit} ${what} in flight; wait for answers before sending more.`,
        members: { limit, window: 'in-flight' },
        retryAfter: RETRY_AFTER_SECONDS,
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
  };
}
