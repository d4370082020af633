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
