import { isTable } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { ListedObject, ObjectStore } from '@packhouse/object-store';
import type { Context } from '@packhouse/runtime';
import { lakePrefix, parseLakeKey } from '../iceberg/file-key.js';

export interface OrphanParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
}

/** An object below the prefix of the lake that no row names. */
interface LakeOrphan extends ListedObject {
  /** Whether it has the name of a data file, as a writer leaves it that was killed before its commit. */
  isDataFile: boolean;
}

/** The commit of a younger object may still come, in milliseconds. */
const YOUNG_MS = 3_600_000;

/** Yields the objects of a network that no row of the lake names; one whose age is not known may be young. */
export async function* listLakeOrphans(
  { context, database, objectStore }: OrphanParts,
  network: string,
  signal: AbortSignal,
): AsyncGenerator<LakeOrphan> {
  const { lake } = database.network(network);
  for await (const object of objectStore.list(lakePrefix(network), { signal })) {
    signal.throwIfAborted();
    const { key, modifiedAt } = object;
    if (modifiedAt !== undefined && context.clock.now() - modifiedAt.getTime() < YOUNG_MS) continue;
    const name = parseLakeKey(key);
    if (name === null || !isTable(name.kind)) yield { ...object, isDataFile: false };
    else if ((await lake.file(name.kind, name, key)) === null) yield { ...object, isDataFile: true };
  }
}

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
