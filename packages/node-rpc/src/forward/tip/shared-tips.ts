import type { Clock } from '@packhouse/runtime';

/** What clients ask for the newest block by. */
export type TipTag = 'latest' | 'safe' | 'finalized';

/**
 * The newest block numbers that any gateway advertised to clients, in a store. A number counts for `holdMs` after it was raised last, so
 * that a reset of the chain lowers it for all gateways alike.
 */
export interface SharedTips {
  /** Returns the number that counts afterwards: this one, or a higher one. */
  raise(network: string, tag: TipTag, number: number, holdMs: number): Promise<number>;
  /** Lowers the number to this one, or removes it (null), if it is higher: its branch was found false. */
  lower?(network: string, tag: TipTag, number: number | null): Promise<void>;
  /** `gateways`: the ids of those whose announcements hold. */
  read(network: string): Promise<Partial<Record<TipTag, number>> & { gateways?: readonly string[] }>;
  /** Announces a gateway for so long. Without it no gateway knows whether it is the only one. */
  announce?(network: string, id: string, forMs: number): Promise<void>;
  /** The epoch of the answers that gateways keep; 0 if it was never raised. Without it each gateway has its own. */
  readEpoch?(network: string): Promise<number>;
  /** Raises the epoch by one, and at least to this number; returns it. */
  raiseEpoch?(network: string, atLeast: number): Promise<number>;
  /** Longest wait for the store, in milliseconds; default: 500. */
  readonly waitMs?: number;
}

/** How often it is read what other gateways found, in milliseconds. */
const READ_EVERY_MS = 1_000;

/**
 * Creates the epoch of one network: part of the name of every answer that is kept, so that raising it forgets them all, at
 * all gateways. It counts here at once, and elsewhere within READ_EVERY_MS, or when `refresh` resolves.
 */
export function createSharedEpoch(options: {
  clock: Pick<Clock, 'sleep'>;
  /** Its name in the store. */
  network: string;
  shared?: SharedTips | undefined;
  signal: AbortSignal;
  onStoreAway?: (error: unknown) => void;
}) {
  const { clock, network, onStoreAway, shared, signal } = options;
  let epoch = 0;
  /** Raised here, and not in the store yet. */
  let owed = false;

  const write = async (): Promise<void> => {
    if (shared?.raiseEpoch === undefined) return;
    owed = true;
    try {
      epoch = Math.max(epoch, await shared.raiseEpoch(network, epoch));
      owed = false;
    } catch (error) {
      onStoreAway?.(error);
    }
  };
  const read = async (): Promise<void> => {
    if (shared?.readEpoch === undefined) return;
    try {
      const stored = await shared.readEpoch(network);
      // The store lost it, or was away when it was raised.
      if (owed || stored < epoch) await write();
      epoch = Math.max(epoch, stored);
    } catch (error) {
      onStoreAway?.(error);
    }
  };
  const reads = createSharedReads(read);
  const refresh = (): Promise<void> => reads.next();
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await refresh();
      await clock.sleep(READ_EVERY_MS, signal).catch(() => undefined);
    }
  };
  const ended = shared?.readEpoch === undefined ? Promise.resolve() : watch();

  return {
    current: (): number => epoch,
    /** Forgets what was kept until now. */
    raise(): void {
      epoch += 1;
      void write();
    },
    /** Reads what other gateways raised it to before this call; undefined if there are none. Never rejects. */
    refresh: shared?.readEpoch === undefined ? () => undefined : refresh,
    /** Resolves when it is not read any more. */
    ended,
  };
}

/** Shares the reads of one value: those that are requested while one is under way share the next one. */
export function createSharedReads<T>(read: () => Promise<T>) {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  const start = (): Promise<T> => {
    next = undefined;
    startedAt = performance.now();
    const reading = read().finally(() => {
      if (running === reading) running = undefined;
    });
    running = reading;
    return reading;
  };
  return {
    /** Resolves with a read that was sent after this call. */
    next(): Promise<T> {
      if (running === undefined && next === undefined) return start();
      next ??= (running as Promise<T>).then(start);
      return next;
    },
    isIdle: (): boolean => running === undefined && next === undefined,
    /** When the last read was sent (performance.now). */
    startedAt: (): number => startedAt,
  };
}

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
