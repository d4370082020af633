import type { PostgresFollowSink, PostgresSinkOptions } from './postgres-sink.js';

/**
 * Opens tables that follow, one for each kind, and makes those that are absent. Rows, what is undone of them and the
 * cursor (in the table `packhouse_rows`) are committed in one transaction: each row is there once after any death.
 *
 * While history is loaded the tables have neither constraints nor indexes. These are made, with the note of it, in the
 * transaction before the first block that may be undone, or when the feed has no more. Throws DATABASE_UNAVAILABLE,
 * DATA_DIR_BUSY, TARGET_MISMATCH, USAGE, ABI_INVALID.
 */
export async function createPostgresSink(options: PostgresSinkOptions): Promise<PostgresFollowSink> {
  // `pg` is loaded with it alone: it takes as much CPU as the rows of some files.
  const { openPostgresSink } = await import('./postgres-sink.js');
  return openPostgresSink(options);
}
