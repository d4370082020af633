import { type Database, withLock } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import { type Context, repeat } from '@packhouse/runtime';

/** How often staging is searched for segments that are published in every kind, in milliseconds. */
const RECLAIM_EVERY_MS = 5_000;

/** Frees the disk space of staged blocks that are published, until the context is aborted; one packer at a time does. */
export function reclaimLoop(
  context: Context,
  database: Database,
  networks: () => readonly Network[],
): Promise<void> {
  return repeat(context, { everyMs: RECLAIM_EVERY_MS, failed: 'reclaiming failed' }, () =>
    withLock(database, 'reclaim', context.signal, async () => {
      for (const { id: network } of networks()) {
        const segments = await database.network(network).staging.reclaim();
        if (segments.length > 0) context.logger.debug({ network, segments }, 'staging reclaimed');
      }
    }),
  );
}
