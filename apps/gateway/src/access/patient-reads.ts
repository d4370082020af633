import type { KeyRow } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';
import { createInFlight } from './in-flight.js';
import type { RateVerdict } from './quotas.js';
import type { CountedCall, RateLimiter } from './rate-limiter.js';

/** What a unit pays of data files: engines read them by many ranges, a piece of a column each. */
const UNIT_BYTES = 1_048_576;
/** What a request costs at least, however short its range is. */
const MIN_READ_BYTES = 65_536;
/**
 * How long a request waits for its second, in milliseconds. DuckDB 1.5.5 tries a refused one three times within 0.6 s,
 * whatever Retry-After says, and ends its query; clients of AWS end one that is silent for 3 s.
 */
const PATIENCE_MS = 2_000;
/** Requests of a key that wait at a time: an engine has one per thread. */
const MAX_WAITING = 256;
/** Keys whose rest of a paid unit is known. */
const MAX_KEYS = 10_000;

/** A request that was counted, and what the limiter says of it. */
interface Taken {
  rate: RateVerdict;
  calls: CountedCall[];
}

/** What engines that read tables do with the units of a plan. */
export function createPatientReads({ rateLimiter, clock }: { rateLimiter: RateLimiter; clock: Clock }) {
  /** Bytes that a key has paid for and not read. */
  const paid = new LRUCache<number, number>({ max: MAX_KEYS });
  const beginWaiting = createInFlight('requests for tables that wait');

  const add = (row: KeyRow, bytes: number): unknown => paid.set(row.id, (paid.get(row.id) ?? 0) + bytes);
  const tryOnce = async (row: KeyRow, name: string, bytes: number): Promise<Taken> => {
    const isPaid = (paid.get(row.id) ?? 0) >= bytes;
    // Requests that come meanwhile must not read the same bytes, nor those of a unit that may be refused.
    if (isPaid) add(row, -bytes);
    const calls = [{ name, cost: isPaid ? 0 : 1 }];
    const rate = await rateLimiter.take(row, calls);
    if (isPaid !== rate.allowed) add(row, isPaid ? bytes : UNIT_BYTES - bytes);
    return { rate, calls };
  };

  return {
    /**
     * Counts a request of a key for so many bytes of data files, or for a unit if it reads none; waits for a second in which
     * the plan allows it. Returns the verdict that is left. Throws the problem `rate-limited` if too many wait already.
     */
    async take(row: KeyRow, name: string, bytes: number = UNIT_BYTES): Promise<Taken> {
      const size = Math.min(UNIT_BYTES, Math.max(MIN_READ_BYTES, bytes));
      const until = clock.elapsed() + PATIENCE_MS;
      let taken = await tryOnce(row, name, size);
      if (taken.rate.allowed) return taken;
      const end = beginWaiting(row.id, MAX_WAITING);
      try {
        while (!taken.rate.allowed && taken.rate.window === 'second') {
          if (clock.elapsed() + taken.rate.resetMs > until) break;
          await clock.sleep(taken.rate.resetMs);
          taken = await tryOnce(row, name, size);
        }
        return taken;
      } finally {
        end();
      }
    },
  };
}
