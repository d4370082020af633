import { type BlockRange, unionRanges } from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import type { CallSignal, Context } from '@packhouse/runtime';
import type { ChangeSource } from './changes.js';
import { createView, type View } from './view.js';
import { createWaiters } from './waiters.js';

/** A view that is read for a request is not older than this, in milliseconds. */
const FRESH_MS = 100;
/** Between two reads for those who wait: of changes of the newest blocks, and of others. */
const PACE_MS = { near: 40, far: 250 };
/** How often the window is read without a notice while feeds wait, and while notices cannot be received. */
const POLL_MS = { hearing: 5_000, deaf: 1_000 };
/** Ranges of notices that are kept until the next read. */
const MAX_TOUCHED = 64;

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
  const { context, reads, network, changes } = parts;
  const { clock, logger, metrics } = context;
  const windowReads = metrics.counter(
    'packhouse_feed_window_reads_total',
    'Reads of the newest blocks of a network for its feeds: their number does not grow with the feeds',
    ['network'],
  );
  const waiters = createWaiters();
  let view: View | undefined;
  let text = '';
  let readAt = Number.NEGATIVE_INFINITY;
  /** Something may have changed since the last read began. */
  let isDirty = true;
  let touched: BlockRange[] = [];
  let reading: Promise<View> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let isHearing = false;
  let isFailing = false;
  let unlisten: (() => void) | undefined;

  const pollMs = (): number => (isHearing && !isFailing ? POLL_MS.hearing : POLL_MS.deaf);
  const schedule = (delayMs: number): void => {
    const at = Math.max(clock.elapsed() + delayMs, readAt + PACE_MS.near);
    if (at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      // Logged by the read.
      void refresh().catch(() => undefined);
    }, at - clock.elapsed());
  };
  const listen = (): void => {
    unlisten ??= changes.listen(network, {
      changed: (range) => {
        isDirty = true;
        touched.push(range);
        if (touched.length > MAX_TOUCHED) touched = joined(touched);
        if (waiters.size() > 0)
          schedule(view === undefined || range.lastBlock >= view.window.floor ? 0 : PACE_MS.far);
      },
      lost: (hears) => {
        isHearing = hears;
        isDirty = true;
        touched = [{ firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER }];
        if (waiters.size() > 0) schedule(0);
      },
    });
  };
  const read = async (): Promise<View> => {
    const ranges = touched;
    touched = [];
    isDirty = false;
    readAt = clock.elapsed();
    windowReads.inc({ network });
    try {
      const now = await reads.window();
      const isSame = view !== undefined && now === text;
      const before = view;
      text = now;
      view = createView(
        isSame && before !== undefined ? before.window : reads.parse(now),
        (before?.serial ?? 0) + 1,
      );
      if (isFailing) logger.info({ network }, 'the feeds of a network can be read again');
      isFailing = false;
      wake(view, before, ranges);
      return view;
    } catch (error) {
      isDirty = true;
      touched.push(...ranges);
      if (!isFailing) logger.warn({ err: error, network }, 'feeds cannot be read; they wait until they can');
      isFailing = true;
      throw error;
    } finally {
      reading = undefined;
      if (waiters.size() > 0) schedule(isDirty && !isFailing ? 0 : pollMs());
    }
  };
  const refresh = async (): Promise<View> => {
    listen();
    // A read under way may be from before the last notice.
    if (reading !== undefined && isDirty) await reading.catch(() => undefined);
    reading ??= read();
    return reading;
  };
  const wake = (now: View, before: View | undefined, ranges: readonly BlockRange[]): void => {
    const hasChanged = before?.window !== now.window;
    const isRepaired = hasChanged && !sameRepairs(before, now);
    waiters.wake(
      (block) =>
        isRepaired ||
        (hasChanged && block >= now.window.floor) ||
        ranges.some(({ firstBlock, lastBlock }) => firstBlock <= block && block <= lastBlock),
    );
  };

  return {
    /** The newest blocks, not older than 100 ms. */
    current: async (): Promise<View> => {
      listen();
      const isFresh = view !== undefined && !isDirty && clock.elapsed() - readAt < FRESH_MS;
      return isFresh ? (view as View) : refresh();
    },
    /** The newest blocks as they were read last; for those who were woken. */
    latest: (): View | undefined => view,
    refresh,
    /** How many wait. */
    waiting: waiters.size,
    /**
     * Resolves with true when something changed since the view of this serial at the newest blocks, at this block, or
     * among repairs; with false after `withinMs`, when the signal is aborted, or when the watch is closed.
     */
    changed: (
      { serial, block }: { serial: number; block: number },
      how: { withinMs: number; signal?: CallSignal | undefined },
    ): Promise<boolean> => {
      if (view?.serial !== serial) return Promise.resolve(how.signal?.aborted !== true);
      schedule(isDirty ? 0 : pollMs());
      return waiters.wait(block, how);
    },
    close(): void {
      clearTimeout(timer);
      unlisten?.();
      waiters.close();
    },
  };
}

/** The ranges as fewer ones: merged, or one that has them all. */
function joined(ranges: readonly BlockRange[]): BlockRange[] {
  const merged = unionRanges(ranges);
  const [first, last] = [merged[0], merged.at(-1)];
  if (merged.length <= MAX_TOUCHED / 2 || first === undefined || last === undefined) return merged;
  return [{ firstBlock: first.firstBlock, lastBlock: last.lastBlock }];
}

function sameRepairs(before: View | undefined, { window }: View): boolean {
  if (before === undefined) return false;
  const last = (view: { window: View['window'] }): string =>
    [...view.window.repairs].map(([kind, repairs]) => `${kind} ${repairs.at(-1)?.sequence}`).join();
  return last(before) === last({ window });
}
