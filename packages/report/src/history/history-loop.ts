import { type Database, type Fence, type HistorySample, withLock } from '@packhouse/database';
import type { Queues } from '@packhouse/queue';
import { type Context, repeat } from '@packhouse/runtime';
import { createCollector } from './collect.js';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
/** How often a process that does not sample checks whether it may, and its pause after an error, in milliseconds. */
const TAKE_OVER_MS = 5_000;
/** A first sample after less time would tell little. */
const MIN_SPAN_MS = 5_000;
/** By how much the clock of Postgres may differ from the time that has passed before it counts as set. */
const CLOCK_SET_MS = 30_000;

interface HistoryParts {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'counts'>;
}

type Metrics = ReturnType<typeof createHistoryMetrics>;

/**
 * Samples the figures of the installation each minute, until the context is aborted. One process at a time does, by the
 * clock of Postgres; when another takes over, a minute or two have no sample, and that shows as a gap.
 *
 * ```
 *   lock ──▶ read counters ──until the minute ends──▶ read again, write the rates ──▶ …
 *                                                       └─ at a new hour: roll up, delete what is old
 * ```
 */
export function historyLoop(parts: HistoryParts): Promise<void> {
  const { context, database } = parts;
  const metrics = createHistoryMetrics(context.metrics);
  return repeat(context, { everyMs: TAKE_OVER_MS, failed: 'the history was not sampled' }, () =>
    withLock(database, 'history', context.signal, async (signal, fence) => {
      try {
        await sampleWhile(parts, metrics, signal, fence);
      } catch (error) {
        if (!signal.aborted) metrics.samples.inc({ outcome: 'failed' });
        throw error;
      } finally {
        metrics.summed.reset();
      }
    }),
  );
}

async function sampleWhile(
  { context, database, queues }: HistoryParts,
  metrics: Metrics,
  signal: AbortSignal,
  fence: Fence,
): Promise<void> {
  const { clock, logger } = context;
  const { history } = database;
  const writer = await history.writer();
  const collect = createCollector({ context, database, queues });
  await collect();
  // What began or ended while nobody sampled is marked with the first sample.
  let quarantined: ReadonlySet<string> = new Set(await history.marks.quarantined());
  let before = { atMs: await history.counters.nowMs(), elapsed: clock.elapsed() };
  let rolledUp: number | undefined;
  while (!signal.aborted) {
    const leftMs = MINUTE_MS - (before.atMs % MINUTE_MS);
    const waitMs = leftMs < MIN_SPAN_MS ? leftMs + MINUTE_MS : leftMs;
    await clock.sleep(waitMs - (clock.elapsed() - before.elapsed), signal).catch(() => undefined);
    if (signal.aborted) return;
    const now = { atMs: await history.counters.nowMs(), elapsed: clock.elapsed() };
    const setMs = now.atMs - before.atMs - (now.elapsed - before.elapsed);
    if (Math.abs(setMs) > CLOCK_SET_MS) {
      logger.warn({ setMs: Math.round(setMs) }, 'the clock of Postgres was set: samples follow it');
    }
    before = now;
    const { quarantined: held, ...sample } = await collect();
    // The wait may end a moment before the minute does.
    const minute = Math.round(now.atMs / MINUTE_MS) - 1;
    await write({ minute, ...sample });
    await noteQuarantine(database, quarantined, held);
    quarantined = new Set(held.keys());
    const hour = Math.floor((minute + 1) / HOUR_MINUTES);
    if (hour !== rolledUp && (await rollUp(hour))) rolledUp = hour;
  }

  /** Samples go on without it, and it is tried again a minute later. */
  async function rollUp(hour: number): Promise<boolean> {
    try {
      await history.rollUp(hour, fence);
      await history.marks.forget();
      return true;
    } catch (error) {
      metrics.samples.inc({ outcome: 'not-rolled-up' });
      if (!signal.aborted) logger.warn({ err: error }, 'samples were not rolled up');
      return false;
    }
  }

  async function write(sample: HistorySample): Promise<void> {
    const summed = await writer.write(sample, fence);
    metrics.samples.inc({ outcome: summed === null ? 'repeated' : 'written' });
    if (summed === null) {
      logger.warn({ minute: sample.minute }, 'this minute was sampled before, so it is left as it is');
      return;
    }
    for (const [subject, count] of summed) metrics.summed.set({ subject }, count);
    metrics.sampledAt.set(((sample.minute + 1) * MINUTE_MS) / 1_000);
  }
}

/** Marks where a network gets its first block in quarantine, and where it has none any more. */
async function noteQuarantine(
  { history: { marks } }: Database,
  before: ReadonlySet<string>,
  now: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [network, blocks] of now) {
    if (!before.has(network)) await marks.quarantine('quarantine-begin', network, `blocks: ${blocks}`);
  }
  for (const network of before) {
    if (!now.has(network)) await marks.quarantine('quarantine-end', network, 'no block is in quarantine');
  }
}

function createHistoryMetrics(metrics: Context['metrics']) {
  return {
    samples: metrics.counter('packhouse_history_samples_total', 'Samples of the history', ['outcome']),
    summed: metrics.gauge(
      'packhouse_history_summed_series',
      'What had no series of its own in the last sample and was summed with others',
      ['subject'],
    ),
    sampledAt: metrics.gauge('packhouse_history_sampled_timestamp_seconds', 'End of the last sampled minute'),
  };
}
