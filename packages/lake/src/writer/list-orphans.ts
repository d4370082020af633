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
