import type { BlockRange } from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import type { CallSignal, Context } from '@packhouse/runtime';
import type { ChangeSource } from './changes.js';
import { createWindowReader } from './read-window.js';
import type { View } from './view.js';
import { createWaiters } from './waiters.js';

/** A view that is read for a request is not older than this, in milliseconds. */
const FRESH_MS = 100;
/** Between two reads for those who wait: of changes of the newest blocks, and of others. */
const PACE_MS = { near: 40, far: 250 };
/** How often the window is read without a notice while feeds wait, and while notices cannot be received. */
const POLL_MS = { hearing: 5_000, deaf: 1_000 };

/**
 * Watches the newest blocks of one network: they are read once for all feeds of a process, and those who wait for a
 * change of them are woken. Nothing is read or heard before the first feed.
 *
 * ```
 *  notice ──▶ one read of the window ──other than before──▶ wakes all that wait at its blocks
 *     ▲               │                                        (of others, those at a block of the notice)
 *  lost, or 5 s without one                ──the same──▶ wakes those at a block of the notice
 * ```
 */
export function createWatch(parts: {
  context: Context;
  reads: Pick<NetworkDatabase['feed'], 'window' | 'parse'>;
  network: string;
  changes: ChangeSource;
}) {
  const { context, network, changes } = parts;
  const { clock } = context;
  const waiters = createWaiters();
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let isHearing = false;
  let unlisten: (() => void) | undefined;

  const reader = createWindowReader({
    ...parts,
    done: (read) => {
      if (read !== undefined) waiters.wake(toWoken(read.view, read.before, read.touched));
      if (waiters.size() > 0) schedule(reader.isDirty() && !reader.isFailing() ? 0 : pollMs());
    },
  });
  const pollMs = (): number => (isHearing && !reader.isFailing() ? POLL_MS.hearing : POLL_MS.deaf);
  const schedule = (delayMs: number): void => {
    const at = Math.max(clock.elapsed() + delayMs, reader.readAt() + PACE_MS.near);
    if (at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      // Logged by the read.
      void reader.refresh().catch(() => undefined);
    }, at - clock.elapsed());
  };
  const listen = (): void => {
    unlisten ??= changes.listen(network, {
      changed: (range) => {
        reader.note(range);
        if (waiters.size() === 0) return;
        const floor = reader.latest()?.window.floor ?? 0;
        schedule(range.lastBlock >= floor ? 0 : PACE_MS.far);
      },
      lost: (hears) => {
        isHearing = hears;
        reader.note({ firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER });
        if (waiters.size() > 0) schedule(0);
      },
    });
  };
  const refresh = (): Promise<View> => {
    listen();
    return reader.refresh();
  };

  return {
    /** The newest blocks, not older than 100 ms. */
    current: (): Promise<View> => {
      const view = reader.latest();
      const isFresh = !reader.isDirty() && clock.elapsed() - reader.readAt() < FRESH_MS;
      return view !== undefined && isFresh ? Promise.resolve(view) : refresh();
    },
    /** The newest blocks as they were read last; for those who were woken. */
    latest: reader.latest,
    refresh,
    /**
     * Resolves with true when something changed since the view of this serial at the newest blocks, at this block, or
     * among repairs; with false after `withinMs`, when the signal is aborted, or when the watch is closed.
     */
    changed: (
      { serial, block }: { serial: number; block: number },
      how: { withinMs: number; signal?: CallSignal | undefined },
    ): Promise<boolean> => {
      if (reader.latest()?.serial !== serial) return Promise.resolve(how.signal?.aborted !== true);
      schedule(reader.isDirty() ? 0 : pollMs());
      return waiters.wait(block, how);
    },
    /** Ends all waiting. */
    close(): void {
      clearTimeout(timer);
      unlisten?.();
      waiters.close();
    },
  };
}

/** Which of those who wait may go on, by the next block of one of their kinds. */
function toWoken(
  now: View,
  before: View | undefined,
  touched: readonly BlockRange[],
): (block: number) => boolean {
  const hasChanged = before?.window !== now.window;
  const isRepaired = before === undefined || lastRepairs(before) !== lastRepairs(now);
  return (block) =>
    isRepaired ||
    (hasChanged && block >= now.window.floor) ||
    touched.some(({ firstBlock, lastBlock }) => firstBlock <= block && block <= lastBlock);
}

const lastRepairs = ({ window }: View): string =>
  [...window.repairs].map(([kind, repairs]) => `${kind} ${repairs.at(-1)?.sequence}`).join();
