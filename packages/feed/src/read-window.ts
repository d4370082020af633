import { type BlockRange, unionRanges } from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import type { Context } from '@packhouse/runtime';
import { createView, type View } from './view.js';

/** Ranges of notices that are kept until the next read. */
const MAX_TOUCHED = 64;

/** What a read found out. */
interface WindowRead {
  view: View;
  /** Of the read before. */
  before: View | undefined;
  /** Blocks of which notices came since the read before began. */
  touched: readonly BlockRange[];
}

/** Reads the newest blocks of a network, one read at a time for all who ask. */
export function createWindowReader(parts: {
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  reads: Pick<NetworkDatabase['feed'], 'window' | 'parse'>;
  network: string;
  /** Called after each read; `read` is absent if it failed. */
  done(read: WindowRead | undefined): void;
}) {
  const { context, reads, network, done } = parts;
  const { clock, logger, metrics } = context;
  const total = metrics.counter(
    'packhouse_feed_window_reads_total',
    'Reads of the newest blocks of a network for its feeds: their number does not grow with the feeds',
    ['network'],
  );
  let view: View | undefined;
  let text = '';
  let readAt = Number.NEGATIVE_INFINITY;
  let isDirty = true;
  let isFailing = false;
  let touched: BlockRange[] = [];
  let reading: Promise<View> | undefined;

  const read = async (): Promise<View> => {
    const ranges = touched;
    touched = [];
    isDirty = false;
    readAt = clock.elapsed();
    total.inc({ network });
    let result: WindowRead | undefined;
    try {
      const now = await reads.window();
      const before = view;
      const window = before !== undefined && now === text ? before.window : reads.parse(now);
      text = now;
      view = createView(window, (before?.serial ?? 0) + 1);
      if (isFailing) logger.info({ network }, 'the feeds of a network can be read again');
      isFailing = false;
      result = { view, before, touched: ranges };
      return view;
    } catch (error) {
      isDirty = true;
      touched.push(...ranges);
      if (!isFailing) logger.warn({ err: error, network }, 'feeds cannot be read; they wait until they can');
      isFailing = true;
      throw error;
    } finally {
      reading = undefined;
      done(result);
    }
  };

  return {
    /** Notes that something of these blocks may have changed. */
    note(range: BlockRange): void {
      isDirty = true;
      touched.push(range);
      if (touched.length > MAX_TOUCHED) touched = joined(touched);
    },
    /** What was read last. */
    latest: (): View | undefined => view,
    /** When the last read began, by the monotonic clock. */
    readAt: () => readAt,
    /** Something may have changed since the last read began. */
    isDirty: () => isDirty,
    isFailing: () => isFailing,
    /** Reads it again, or joins a read that began after the last notice. */
    async refresh(): Promise<View> {
      if (reading !== undefined && isDirty) await reading.catch(() => undefined);
      reading ??= read();
      return reading;
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
