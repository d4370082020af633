import type { Database } from '@packhouse/database';
import { reclaim } from '@packhouse/pipeline';
import type { Context } from '@packhouse/runtime';

/** Staging is looked through this often, in milliseconds. */
const RECLAIM_EVERY_MS = 5_000;

/** Reclaims staging of these networks, over and over, until the context is aborted; one packer at a time does. */
export async function reclaimLoop(
  context: Context,
  database: Database,
  networks: readonly string[],
): Promise<void> {
  while (!context.signal.aborted) {
    try {
      const lock = await database.tryLock('reclaim');
      if (lock !== null) {
        try {
          for (const network of networks) await reclaim({ context, database }, network);
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
