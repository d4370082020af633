import type { Clock } from '@packhouse/runtime';

/*
 * Whether a gateway is the only one of a network, so that it need not read the store before each call:
 *
 *   absent      it did not announce itself in PRESENT_MS, or the store forgot it: it answers nothing before it joined
 *     │ join      announce, then read who is there; if others are, wait until none of them can believe to be alone
 *     ▼
 *   present     it reads the store before each call, and sees there who is there
 *     │ a read that was sent after it had announced itself names nobody else
 *     ▼
 *   alone       for ALONE_MS from when that read was sent, by its own clock, which runs on while the process is stopped
 *
 * Another gateway is announced before it reads, so whoever is alone knows it from a read before that, and is alone no
 * longer when the other one has waited.
 */

/** Announced this long ago, it is not there any more for itself; for the others, by the store's clock, it is longer. */
const PRESENT_MS = 20_000;
export const ANNOUNCED_MS = 30_000;
/** How often it announces itself again. */
const EVERY_MS = 5_000;
const ALONE_MS = 1_000;
/** Longer than ALONE_MS even on a clock that is a quarter faster. */
const JOIN_MS = 1_250;

/** The presence of one gateway in one network. */
interface Presence {
  /** Whether it is the only one, for this moment. */
  alone(): boolean;
  /** Whether it must read soon to remain alone. */
  due(): boolean;
  /** Waits until it may answer; undefined: at once. Never rejects. */
  ready(): Promise<void> | undefined;
  /** Takes who is there, by a read that was sent at this time of the clock. */
  saw(gateways: readonly string[], sentAt: number): void;
}

/** `announce` tells the store, `read` reads it and calls `saw`. They reject while the store is away, which is reported. */
export function createPresence(options: {
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  id: string;
  announce(): Promise<void>;
  read(): Promise<void>;
  onAway(error: unknown): void;
}): Presence {
  const { announce, clock, id, onAway, read } = options;
  /** When the announcement was sent that counts, and when the store had it. */
  let sentAt = Number.NEGATIVE_INFINITY;
  let knownAt = Number.POSITIVE_INFINITY;
  let aloneAt = Number.NEGATIVE_INFINITY;
  let others = true;
  let joining: Promise<void> | undefined;
  let announcing = false;

  const present = (): boolean => clock.elapsed() - sentAt < PRESENT_MS;
  const tell = async (): Promise<void> => {
    const at = clock.elapsed();
    await announce();
    if (!present()) knownAt = clock.elapsed();
    sentAt = at;
  };
  const again = async (): Promise<void> => {
    announcing = true;
    await tell().catch(onAway);
    announcing = false;
  };
  const join = async (): Promise<void> => {
    aloneAt = Number.NEGATIVE_INFINITY;
    try {
      // Again if the process was stopped meanwhile.
      do {
        others = true;
        await tell();
        await read();
        if (!others) return;
        await clock.sleep(JOIN_MS);
        // What they told while they believed to be alone.
        await read();
      } while (!present());
    } catch (error) {
      onAway(error);
    }
  };

  return {
    alone: () => present() && joining === undefined && clock.elapsed() - aloneAt < ALONE_MS,
    due: () => clock.elapsed() - aloneAt > ALONE_MS / 2,
    ready() {
      if (joining !== undefined) return joining;
      if (present()) {
        if (!announcing && clock.elapsed() - sentAt > EVERY_MS) void again();
        return undefined;
      }
      const mine = join().finally(() => {
        if (joining === mine) joining = undefined;
      });
      joining = mine;
      return mine;
    },
    saw(gateways, at) {
      // It may be older than the announcement.
      if (at < knownAt) return;
      others = !gateways.includes(id) || gateways.length > 1;
      aloneAt = others ? Number.NEGATIVE_INFINITY : Math.max(at, aloneAt);
      // The store lost it: the others do not know of it.
      if (!gateways.includes(id)) sentAt = Number.NEGATIVE_INFINITY;
    },
  };
}
