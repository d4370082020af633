import { parseObjectKey } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { ListedObject, ObjectStore } from '@packhouse/object-store';
import type { Context } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import type { Finding } from './finding.js';

/** Younger objects may be a packer's that has not written its index row yet, in milliseconds. */
const YOUNG_MS = 600_000;
/** Objects that are looked up in the index at once. */
const PAGE = 500;

interface NamedObject extends ListedObject, BlockRange {
  kind: Kind;
}

/**
 * Compares the store's objects of a network with the index: objects that no row names, current or superseded, and
 * objects whose name is none. Both are harmless: a packer that is killed between the object and its row leaves one.
 */
export async function checkObjects(
  parts: { context: Context; database: Database; objectStore: ObjectStore; report: AuditReport },
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
    const name = nameOf(object.key);
    if (name === null) {
      if (request.whole && !young) report.found(misnamed(network, object));
      continue;
    }
    const page = pages.get(name.kind);
    if (page === undefined || young || name.start > range.end || name.end < range.start) continue;
    page.push({ ...object, kind: name.kind, start: name.start, end: name.end });
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
  const starts = [...new Set(page.map(({ start }) => start))];
  const known = await database.audit.knownKeys(network, kind, starts);
  return page.filter(({ key }) => !known.has(key));
}

function nameOf(key: string): ReturnType<typeof parseObjectKey> | null {
  try {
    return parseObjectKey(key);
  } catch {
    return null;
  }
}

function orphan(network: string, { kind, start, end, key, size }: NamedObject): Finding {
  return {
    ...NOTHING,
    network,
    kind,
    start,
    end,
    key,
    cause: 'orphan',
    message: `${network} ${kind} ${start}-${end}: no index row names the object ${key} of ${size} bytes (harmless; a packer that was killed leaves such).`,
    size,
  };
}

function misnamed(network: string, { key, size }: ListedObject): Finding {
  return {
    ...NOTHING,
    network,
    key,
    cause: 'name',
    message: `${network}: the object ${key} of ${size} bytes has no name of a bundle, expected ${network}/<kind>/<start>-<end>.json.gz (harmless; nothing reads it).`,
    size,
  };
}

const NOTHING = {
  kind: null,
  start: null,
  end: null,
  key: null,
  version: null,
  block: null,
  expected: null,
  got: null,
  harmless: true,
} as const;
