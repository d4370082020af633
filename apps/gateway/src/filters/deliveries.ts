import type { Context } from '@packhouse/runtime';
import { FILTER_TTL_MS, type FilterState, type FilterStore } from './filter-state.js';

/*
 * The way of what a poll gives:
 *
 *   stored      the cursor moves, and the filter says what is undelivered and until when a gateway delivers it
 *     ▼
 *   delivering  the answer is on its way; other polls wait a moment for its end, or give nothing
 *     ▼
 *   sent        the whole response was handed to the connection: the filter forgets what was undelivered
 *   broken      the connection broke before: the filter says so, and the next poll gives it again
 *   killed      the gateway ended: the time is over after LEASE_MS, and the next poll gives it again
 */

/** Follows the answers of polls until they are sent. */
export interface Deliveries {
  /** The state to store before an answer is sent: nobody else gives what is undelivered as long as this gateway runs. */
  lease(state: FilterState): FilterState;
  /** Whether some gateway delivers what is undelivered. */
  isLeased(state: FilterState): boolean;
  /** Writes the end of a delivery. `done`: the state if it was sent. */
  track(delivery: {
    id: Buffer;
    /** Version of `state`, as it was stored. */
    version: number;
    state: FilterState;
    done: FilterState;
    whenSent: WhenSent;
  }): void;
  /**
   * Waits for the end of a delivery, for a moment at most. Returns false if it is part of the same response: then it
   * does not end before that is sent.
   */
  wait(id: Buffer, whenSent: WhenSent | undefined): Promise<boolean>;
  /** Resolves when the end of all deliveries is written. */
  close(): Promise<void>;
}

type WhenSent = (then: (sent: boolean) => void) => void;

/** How long a delivery belongs to its gateway from the last write; the clocks of gateways must differ by less. */
const LEASE_MS = 10_000;
/** How often a delivery that takes long is written again. */
const RENEW_MS = 3_000;
/** How often another gateway's delivery is looked at. */
const POLL_MS = 50;

export function createDeliveries(parts: { filters: FilterStore; context: Context }): Deliveries {
  const { filters } = parts;
  const { clock, logger } = parts.context;
  const all = new Map<string, { whenSent: WhenSent; over: Promise<unknown> }>();

  const until = (state: FilterState, time: number): FilterState => ({
    ...state,
    undelivered: state.undelivered && { ...state.undelivered, until: time },
  });
  const lease = (state: FilterState): FilterState => until(state, clock.now() + LEASE_MS);

  return {
    lease,
    isLeased: ({ undelivered }) => undelivered !== undefined && undelivered.until > clock.now(),
    track({ id, version, state, done, whenSent }) {
      let written: Promise<number | null> = Promise.resolve(version);
      const write = (next: FilterState): Promise<number | null> => {
        written = written.then(async (before) => {
          if (before === null) return null;
          try {
            const text = JSON.stringify(next);
            return await filters.update({ id, version: before, state: text, ttlMs: FILTER_TTL_MS });
          } catch (error) {
            logger.warn({ err: error }, 'failed to store the end of a delivery; a poll may repeat it');
            return before;
          }
        });
        return written;
      };
      const renewing = setInterval(() => void write(lease(state)), RENEW_MS);
      renewing.unref();
      const name = id.toString('hex');
      const over = new Promise<unknown>((resolve) => {
        whenSent((sent) => {
          clearInterval(renewing);
          resolve(write(sent ? done : until(state, 0)));
        });
      });
      const delivery = { whenSent, over };
      all.set(name, delivery);
      void over.then(() => {
        if (all.get(name) === delivery) all.delete(name);
      });
    },
    async wait(id, whenSent) {
      const own = all.get(id.toString('hex'));
      if (own !== undefined && own.whenSent === whenSent) return false;
      const moment = new AbortController();
      const slept = clock.sleep(POLL_MS, moment.signal).catch(() => undefined);
      await Promise.race([own?.over ?? slept, slept]);
      moment.abort();
      return true;
    },
    async close() {
      await Promise.all([...all.values()].map(({ over }) => over));
    },
  };
}
