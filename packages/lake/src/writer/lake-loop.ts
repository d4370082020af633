import { withLock } from '@packhouse/database';
import { repeat } from '@packhouse/runtime';
import { createLakeWriter } from './lake-writer.js';

/** The pause between two looks at what was published, in milliseconds. */
const LOOK_EVERY_MS = 5_000;

/**
 * Keeps the tables of the lake equal to what is published, until the context is aborted. One process at a time does, and
 * one file at a time is written.
 */
export function lakeLoop(parts: Parameters<typeof createLakeWriter>[0]): Promise<void> {
  const { context, database } = parts;
  const writer = createLakeWriter(parts);
  return repeat(context, { everyMs: LOOK_EVERY_MS, failed: 'the lake was not updated' }, () =>
    withLock(database, 'lake', context.signal, async (signal, fence) => {
      while (await writer.run(signal, fence)) signal.throwIfAborted();
    }),
  );
}
