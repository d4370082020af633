import type { BundleRow } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import type { Fault } from './finding.js';

/** The object that a row names is gone. */
export function missingObject(row: BundleRow, store: ObjectStore): Fault {
  return {
    cause: 'missing',
    what: `the object ${row.objectKey} is not in ${store.description}.`,
    expected: `${row.byteLength} bytes with SHA-256 ${row.sha256}`,
    got: 'no object',
  };
}

/** The object has another length than its row says. */
export function wrongSize(row: BundleRow, bytes: number): Fault {
  return {
    cause: 'size',
    what: `the object ${row.objectKey} has ${bytes} bytes, expected ${row.byteLength}.`,
    expected: String(row.byteLength),
    got: String(bytes),
  };
}
