import type { Database } from '@packhouse/database';
import { type Clock, createOnceAWhile, type Logger } from '@packhouse/runtime';

/** The requests of keys in a day, counted by all gateways together. */
interface SharedUsage {
  /** Adds requests of a key; `learn` gets the total, including those at other gateways. */
  note(keyId: number, requests: number): void;
  /** Writes the counts not written yet, and stops. */
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
const DAY_MS = 86_400_000;
const COMPLAIN_MS = 60_000;

/**
 * Creates the count. Every second new requests go to Postgres, in one statement for all keys. While Postgres is away
 * they are kept, and each gateway counts for itself. A new gateway knows a key's requests of the day a second after
 * the first one, so a quota may be exceeded for that second.
 */
export function createSharedUsage(options: {
  keys: Pick<Database['keys'], 'use' | 'forgetUses'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
  learn(keyId: number, day: number, requests: number): void;
}): SharedUsage {
  const { keys, clock, logger, learn } = options;
  const seldom = createOnceAWhile(COMPLAIN_MS, () => clock.now());
  let noted = new Map<number, number>();
  let day = Math.floor(clock.now() / DAY_MS);
  let swept = 0;
  let telling: Promise<void> = Promise.resolve();

  const tell = async (): Promise<void> => {
    if (noted.size === 0) return;
    const [told, on] = [noted, day];
    noted = new Map();
    try {
      const totals = await keys.use(
        on,
        [...told].map(([keyId, requests]) => ({ keyId, requests })),
      );
      // Requests added meanwhile are added to the total.
      for (const [keyId, total] of totals) {
        if (on === day) learn(keyId, on, total + (noted.get(keyId) ?? 0));
      }
      if (swept !== on) await keys.forgetUses(on - 1);
      swept = on;
    } catch (error) {
      // A past day is not counted any more.
      if (on === day) for (const [keyId, requests] of told) add(noted, keyId, requests);
      const { say } = seldom('usage');
      if (say) logger.warn({ err: error }, 'requests of the day could not be shared; they are kept');
    }
  };
  const flush = (): Promise<void> => {
    telling = telling.then(tell);
    return telling;
  };
  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();

  return {
    note(keyId, requests) {
      const today = Math.floor(clock.now() / DAY_MS);
      if (today !== day) {
        noted = new Map();
        day = today;
      }
      add(noted, keyId, requests);
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

function add(counts: Map<number, number>, keyId: number, requests: number): void {
  counts.set(keyId, (counts.get(keyId) ?? 0) + requests);
}
