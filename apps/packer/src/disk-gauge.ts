import { statfs } from 'node:fs/promises';
import type { Context } from '@packhouse/runtime';

/** Reports the size of the disk of a folder with bundles whenever metrics are asked for; an S3 store has no limit. */
export function createDiskGauge({ metrics, logger }: Context, objectStore: string): void {
  if (/^s3:\/\//.test(objectStore)) return;
  metrics.gauge(
    'packhouse_store_disk_bytes',
    'Bytes of the disk under the object store: in total, and free',
    ['what'],
    async (gauge) => {
      try {
        const { bsize, blocks, bavail } = await statfs(objectStore);
        gauge.set({ what: 'total' }, bsize * blocks);
        gauge.set({ what: 'free' }, bsize * bavail);
      } catch (error) {
        gauge.reset();
        logger.warn({ err: error }, 'the disk under the object store cannot be read');
      }
    },
  );
}
