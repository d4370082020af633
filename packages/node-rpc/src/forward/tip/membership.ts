import type { Clock } from '@packhouse/runtime';

/*
 * Whether a gateway is the only one of a network, so that it need not read the store before each call:
 *
 *   absent      it did not announce itself within PRESENT_MS, or the store lost it: it answers nothing before it joined
 *     │ join      announce, then read the members; if there are others, wait until none of them can believe to be the only one
 *     ▼
 *   present     it reads the store, and in it the members, before each call
 *     │ a read that was sent after its own announcement names no other
 *     ▼
 *   only        for ONLY_MS from when that read was sent, by its own clock, which runs on while the process is stopped
 *
 * Another gateway announces itself before it reads, so the only one has read of it before the other one has waited.
 */

/** It counts itself as absent this long after its announcement; the others do later, by the store's clock. */
const PRESENT_MS = 20_000;
export const ANNOUNCED_MS = 30_000;
/** How often it announces itself again. */
const EVERY_MS = 5_000;
const ONLY_MS = 1_000;
/** Longer than ONLY_MS even on a clock that is a quarter faster. */
const JOIN_MS = 1_250;

/** Creates the membership of one gateway. `announce` writes to the store, `read` reads it and calls `update`. They reject while the store is away, which is reported. */
export function createMembership(options: {
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
  id: string;
  announce(): Promise<void>;
  read(): Promise<void>;
  onAway(error: unknown): void;
}) {
  const { announce, clock, id, onAway, read } = options;
  /** When the announcement was sent that counts, and when the store had it. */
  let sentAt = Number.NEGATIVE_INFINITY;
  let knownAt = Number.POSITIVE_INFINITY;
  let onlyAt = Number.NEGATIVE_INFINITY;
  let others = true;
  let joining: Promise<void> | undefined;
  let announcing = false;

  const present = (): boolean => clock.elapsed() - sentAt < PRESENT_MS;
  const announceNow = async (): Promise<void> => {
    const at = clock.elapsed();
    await announce();
    if (!present()) knownAt = clock.elapsed();
    sentAt = at;
  };
  const again = async (): Promise<void> => {
    announcing = true;
    await announceNow().catch(onAway);
    announcing = false;
  };
  const join = async (): Promise<void> => {
    onlyAt = Number.NEGATIVE_INFINITY;
    try {
      // Again if the process was stopped meanwhile.
      do {
        others = true;
        await announceNow();
        await read();
        if (!others) return;
        await clock.sleep(JOIN_MS);
        // What they advertised while they believed to be the only one.
        await read();
      } while (!present());
    } catch (error) {
      onAway(error);
    }
  };

  return {
    /** Whether it is the only one, for this moment. */
    isOnly: (): boolean => present() && joining === undefined && clock.elapsed() - onlyAt < ONLY_MS,
    /** Whether it must read soon to remain the only one. */
    isReadDue: (): boolean => clock.elapsed() - onlyAt > ONLY_MS / 2,
    /** Waits until it may answer; undefined: at once. Never rejects. */
    ready(): Promise<void> | undefined {
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
    /** Takes the members over from a read that was sent at this time of the clock. */
    update(gateways: readonly string[], at: number): void {
      // It may be older than the announcement.
      if (at < knownAt) return;
      others = !gateways.includes(id) || gateways.length > 1;
      onlyAt = others ? Number.NEGATIVE_INFINITY : Math.max(at, onlyAt);
      // The store lost it: the others do not know of it.
      if (!gateways.includes(id)) sentAt = Number.NEGATIVE_INFINITY;
    },
  };
}
