import { hash } from 'node:crypto';
import { filterBytes, filterFits, filterKey } from '@packhouse/bundle';
import type { BundleRow, Database } from '@packhouse/database';
import type { FilterFile } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import type { Fault } from './finding.js';
import { readIfStored } from './read-if-stored.js';

interface CheckFilterParts {
  database: Database;
  objectStore: ObjectStore;
  report: AuditReport;
}

/** The filter of a bundle by its row; null: it has none. */
export async function getFilter(database: Database, row: BundleRow): Promise<FilterFile | null> {
  const { network, kind, firstBlock, sha256 } = row;
  const [found] = await database
    .network(network)
    .bundleFilters.of(kind, { firstBlock, lastBlock: firstBlock }, 1);
  return found?.sha256 === sha256 ? found.filter : null;
}

/**
 * Compares the filter of a bundle with its row, and with the bundle: its parts must be those of the file, and contain
 * every item. `bytes` are the
 * bundle's; null: it is too large, and only the object is checked. A bundle without a filter has no fault.
 */
export async function checkFilter(
  { database, objectStore, report }: CheckFilterParts,
  row: BundleRow,
  bytes: Buffer | null,
  signal: AbortSignal,
): Promise<void> {
  const filter = await getFilter(database, row);
  if (filter === null) return;
  const key = filterKey(row.objectKey);
  const object = await readIfStored(objectStore, key, { signal });
  if (object === null) {
    report.fault(row, { cause: 'filter', what: `its filter ${key} is not in ${objectStore.description}.` });
    return;
  }
  const fault = await getFault(filter, object, { row, key, bytes });
  if (fault !== null) report.fault(row, fault);
}

async function getFault(
  { sha256: expected }: FilterFile,
  object: Buffer,
  { row: { kind, fragments }, key, bytes }: { row: BundleRow; key: string; bytes: Buffer | null },
): Promise<Fault | null> {
  const got = hash('sha256', object);
  if (got !== expected) {
    return {
      cause: 'filter',
      what: `its filter ${key} has SHA-256 ${got}, expected ${expected}.`,
      expected,
      got,
    };
  }
  if (bytes === null) return null;
  try {
    if (await filterFits(withoutSeal(object), { kind, fragments, bytes })) return null;
  } catch (error) {
    if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
    // What is wrong with the records is found where they are checked.
    return null;
  }
  return { cause: 'filter', what: `its filter ${key} does not describe everything that is in the bundle.` };
}

/** The filter of an object without a signature behind it; bytes that are no filter stay. */
function withoutSeal(object: Buffer): Buffer {
  try {
    return object.subarray(0, filterBytes(object));
  } catch (error) {
    if (isPackhouseError(error, 'BUNDLE_INVALID')) return object;
    throw error;
  }
}
