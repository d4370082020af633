import { listLakeOrphans, type OrphanParts } from './list-orphans.js';

/** How long the files of a snapshot stay after they were replaced, in milliseconds: a query may last as long. */
export const KEEP_MS = 86_400_000;
/** Files that are looked up at a time. */
const PAGE = 500;

/** Deletes the files of a network that were replaced longer ago than `keepMs`. Returns their number. */
export async function deleteExpired(
  { database, objectStore }: Pick<OrphanParts, 'database' | 'objectStore'>,
  network: string,
  { keepMs, signal }: { keepMs: number; signal: AbortSignal },
): Promise<number> {
  const { lake } = database.network(network);
  let deleted = 0;
  for (;;) {
    const expired = await lake.expired(keepMs, PAGE);
    for (const file of expired) {
      signal.throwIfAborted();
      await lake.expire(file);
      // The same bundles may have made it again since.
      const again = await lake.newest(file.kind, { firstBlock: file.firstBlock, lastBlock: file.firstBlock });
      if (!again.some(({ objectKey }) => objectKey === file.objectKey))
        await objectStore.delete(file.objectKey);
      await lake.forget(file);
      deleted += 1;
    }
    if (expired.length < PAGE) return deleted;
  }
}

/** Deletes objects of the lake that no row names: a writer that was killed before its commit left them. */
export async function deleteLakeOrphans(
  parts: OrphanParts,
  network: string,
  signal: AbortSignal,
): Promise<string[]> {
  const deleted: string[] = [];
  for await (const { key, isDataFile, modifiedAt } of listLakeOrphans(parts, network, signal)) {
    if (!isDataFile || modifiedAt === undefined) continue;
    await parts.objectStore.delete(key);
    deleted.push(key);
  }
  return deleted;
}
