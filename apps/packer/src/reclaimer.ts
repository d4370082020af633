import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';

/** How often staging is searched for segments that are published in every kind, in milliseconds. */
const RECLAIM_EVERY_MS = 5_000;

/** Frees the disk space of staged blocks that are published, until the context is aborted; one packer at a time does. */
export async function reclaimLoop(
  context: Context,
  database: Database,
  networks: () => readonly Network[],
): Promise<void> {
  while (!context.signal.aborted) {
    try {
      const lock = await database.tryLock('reclaim');
      if (lock !== null) {
        try {
          for (const { id: network } of networks()) {
            const segments = await database.network(network).staging.reclaim();
            if (segments.length > 0) context.logger.debug({ network, segments }, 'staging reclaimed');
          }
        } finally {
          await lock.release();
        }
      }
    } catch (error) {
      context.logger.warn({ err: error }, 'reclaiming failed; it is tried again');
    }
    await context.clock.sleep(RECLAIM_EVERY_MS, context.signal).catch(() => undefined);
  }
}
