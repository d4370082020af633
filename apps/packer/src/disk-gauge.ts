import { statfs } from 'node:fs/promises';
import type { Context } from '@packhouse/runtime';

/**
 * Tells how much room there is where bundles are kept in a folder; an S3 store has no end to tell of. Read when the
 * metrics are asked for.
 */
export function createDiskGauge({ metrics, logger }: Context, objectStore: string): void {
  if (/^s3:\/\//.test(objectStore)) return;
  metrics.gauge(
    'packhouse_store_disk_bytes',
    'Bytes of the disk under the object store: what there are, and what is free',
    ['what'],
    async (gauge) => {
      try {
        const { bsize, blocks, bavail } = await statfs(objectStore);
        gauge.set({ what: 'total' }, bsize * blocks);
        gauge.set({ what: 'free' }, bsize * bavail);
      } catch (error) {
        gauge.reset();
        logger.warn({ err: error }, 'the disk under the object store cannot be looked at');
      }
    },
  );
}
