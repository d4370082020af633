import type { Clock } from '@packhouse/runtime';
import type { SharedTips } from './advertised-tip.js';
import { createSharedReads } from './shared-reads.js';

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
