import { bundleOfFilter, parseLogKey, parseObjectKey } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { ListedObject, ObjectStore } from '@packhouse/object-store';
import { withoutPackers } from '@packhouse/pipeline';
import { type Context, getOrAdd } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { bundleFinding, type Finding } from './finding.js';

interface OrphanParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
}

/** A packer may not have written the index row of younger objects yet, in milliseconds. */
const YOUNG_MS = 600_000;
/** Objects that are looked up in the index together. */
const PAGE = 500;

interface NamedObject extends ListedObject, BlockRange {
  kind: Kind;
}

/**
 * Compares the store's objects of a network with the index. Reports objects that no row names, current or superseded,
 * filters of bundles that no row names, and objects that are named as neither. All are harmless: a packer that is killed
 * between the object and its row leaves one.
 */
export async function checkObjects(
  parts: OrphanParts & { report: AuditReport },
  request: { network: string; kinds: readonly Kind[]; range: BlockRange; whole: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { context, objectStore, report } = parts;
  const { network, kinds, range } = request;
  const pages = new Map<Kind, NamedObject[]>(kinds.map((kind) => [kind, []]));
  const flush = async (kind: Kind): Promise<void> => {
    const page = pages.get(kind) ?? [];
    pages.set(kind, []);
    for (const object of await unnamed(parts.database, network, kind, page))
      report.found(orphan(network, object));
  };
  for await (const object of objectStore.list(`${network}/`, { signal })) {
    const young =
      object.modifiedAt !== undefined && context.clock.now() - object.modifiedAt.getTime() < YOUNG_MS;
    const name = toName(object.key);
    if (parseLogKey(object.key) !== null) continue;
    if (name === null) {
      if (request.whole && !young) report.found(misnamed(network, object));
      continue;
    }
    const page = pages.get(name.kind);
    if (page === undefined || young || name.firstBlock > range.lastBlock || name.lastBlock < range.firstBlock)
      continue;
    page.push({ ...name, ...object });
    if (page.length >= PAGE) await flush(name.kind);
  }
  for (const kind of kinds) await flush(kind);
}

/** The objects of a page that no row names. */
async function unnamed(
  database: Database,
  network: string,
  kind: Kind,
  page: readonly NamedObject[],
): Promise<NamedObject[]> {
  if (page.length === 0) return [];
  const starts = [...new Set(page.map(({ firstBlock }) => firstBlock))];
  const known = await database.network(network).audit.knownKeys(kind, starts);
  return page.filter(({ key }) => !known.has(bundleOfFilter(key) ?? key));
}

function toName(key: string): ReturnType<typeof parseObjectKey> | null {
  try {
    return parseObjectKey(bundleOfFilter(key) ?? key);
  } catch {
    return null;
  }
}

function orphan(network: string, object: NamedObject): Finding {
  const what = `no index row names the object ${object.key} of ${object.size} bytes (harmless; a packer that was killed leaves such).`;
  const row = { ...object, network, objectKey: object.key, version: null };
  return { ...bundleFinding(row, { cause: 'orphan', what }), harmless: true, size: object.size };
}

function misnamed(network: string, { key, size }: ListedObject): Finding {
  const message = `${network}: the object ${key} of ${size} bytes has no name of a bundle, expected ${network}/<kind>/<start>-<end>.json.gz (harmless; nothing reads it).`;
  const none = { kind: null, from: null, to: null, version: null, block: null, expected: null, got: null };
  return { ...none, network, key, cause: 'name', message, size, harmless: true };
}

/** Younger objects are never deleted, in milliseconds. */
const SETTLED_MS = 3_600_000;

/** An object that no index row named when it was looked for. */
export interface Orphan {
  network: string;
  kind: Kind;
  firstBlock: number;
  key: string;
}

/**
 * Deletes objects that no row names, while no packer and no repair of their kind runs: both write the object
 * before its row. Each is checked again right before it is deleted; one written within the last hour stays. Returns
 * the deleted keys. Throws PACKERS_BUSY if packers run for longer than a minute.
 */
export async function deleteOrphans(
  { context, database, objectStore }: OrphanParts,
  orphans: readonly Orphan[],
  signal: AbortSignal,
): Promise<string[]> {
  const deleted: string[] = [];
  const kinds = new Map<string, Orphan[]>();
  for (const orphan of orphans) getOrAdd(kinds, `${orphan.network}:${orphan.kind}`, () => []).push(orphan);
  for (const [name, group] of kinds) {
    await withoutPackers({ context, database }, name, signal, async (stop) => {
      for (const { network, kind, firstBlock, key } of group) {
        stop.throwIfAborted();
        const object = await objectStore.head(key, { signal: stop });
        const written = object?.modifiedAt?.getTime();
        if (written === undefined || context.clock.now() - written < SETTLED_MS) continue;
        const known = await database.network(network).audit.knownKeys(kind, [firstBlock]);
        if (known.has(bundleOfFilter(key) ?? key)) continue;
        await objectStore.delete(key);
        deleted.push(key);
      }
    });
  }
  return deleted;
}
