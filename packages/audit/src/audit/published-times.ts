import { readBundle } from '@packhouse/bundle';
import type { Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';

/**
 * When the blocks of a range are of, in seconds since 1970, by the published headers; null if they are not all
 * published, or one of their files is damaged. Throws errors of the store and the database.
 */
export async function publishedTimes(
  { database, objectStore }: { database: Database; objectStore: ObjectStore },
  { network, firstBlock, lastBlock }: { network: string; firstBlock: number; lastBlock: number },
  signal: AbortSignal,
): Promise<number[] | null> {
  const times: number[] = [];
  for (let block = firstBlock; block <= lastBlock; ) {
    const row = await database.network(network).bundles.covering('blocks', block);
    if (row === null) return null;
    try {
      const { records } = await readBundle(await objectStore.read(row.objectKey, { signal }));
      for (; block <= Math.min(row.lastBlock, lastBlock); block += 1) {
        const text = records[block - row.firstBlock]?.toString('latin1');
        const { timestamp } = JSON.parse(text ?? '{}') as { timestamp?: string };
        if (timestamp === undefined) return null;
        times.push(Number(timestamp));
      }
    } catch (error) {
      if (isPackhouseError(error, 'BUNDLE_INVALID') || isPackhouseError(error, 'OBJECT_MISSING')) return null;
      throw error;
    }
  }
  return times;
}
