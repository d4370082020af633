import type { Database } from '@packhouse/database';
import type { Context } from '@packhouse/runtime';

/** Gives the space of staged blocks that are published in every kind back to the disk. Safe to repeat. */
export async function reclaim(
  { context, database }: { context: Context; database: Database },
  network: string,
): Promise<number> {
  const segments = await database.staging.reclaim(network);
  if (segments.length > 0) context.logger.debug({ network, segments }, 'staging reclaimed');
  return segments.length;
}
