import { createHash } from 'node:crypto';
import { type FragmentRecords, parseObjectKey, readBundle, readFragments } from '@packhouse/bundle';
import type { BundleRow } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { checkGiant } from './check-giant.js';
import type { Fault } from './finding.js';
import { missingObject, wrongSize } from './object-faults.js';

/** A bundle that is larger than this, packed or unpacked, is read as a stream and never held. */
export const GIANT_BYTES = 67_108_864;

/** A bundle whose bytes are those of its index row. */
export interface OpenedBundle {
  row: BundleRow;
  /** null for a giant. */
  bytes: Buffer | null;
  /** Fragment by fragment; null for a bundle of one giant record, which has to be streamed. */
  fragments: AsyncIterable<FragmentRecords> | null;
}

/** Whether a bundle is read as a stream. */
export function isGiant(row: BundleRow): boolean {
  return row.byteLength > GIANT_BYTES || row.fragments.some(({ rawLength }) => rawLength > GIANT_BYTES);
}

/**
 * Reads a bundle's object and compares it with its index row: name, length, SHA-256. What differs is reported, by the
 * place of the damage where it can be found, and the bundle is not opened (null): nothing it holds can be relied on.
 */
export async function openBundle(
  parts: { objectStore: ObjectStore; report: AuditReport },
  row: BundleRow,
  signal: AbortSignal,
): Promise<OpenedBundle | null> {
  const { objectStore, report } = parts;
  const wrongName = checkName(row);
  if (wrongName !== null) report.fault(row, wrongName);
  if (isGiant(row))
    return (await checkGiant(parts, row, signal)) ? { row, bytes: null, fragments: null } : null;
  let bytes: Buffer;
  try {
    bytes = await objectStore.read(row.objectKey, { signal });
  } catch (error) {
    if (!isPackhouseError(error, 'OBJECT_MISSING')) throw error;
    report.fault(row, missingObject(row, objectStore));
    return null;
  }
  report.read(bytes.length);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 === row.sha256) {
    return { row, bytes, fragments: readFragments({ fragments: row.fragments, bytes }) };
  }
  report.fault(row, await damagedObject(row, bytes, sha256));
  return null;
}

/** The finding of an error of `readFragments` in a bundle whose SHA-256 is right: it was published like that. */
export async function memberFault(bytes: Buffer | null, error: unknown): Promise<Fault> {
  const { message, data } = error as { message: string; data?: { part?: unknown } };
  const part = data?.part;
  const sound = bytes !== null && part !== 'records' && (await inflates(bytes));
  return {
    cause: part === 'records' ? 'recordCount' : sound || bytes === null ? 'fragmentTable' : 'gzip',
    what: `its object has the right SHA-256, but was published damaged: ${message}`,
  };
}

async function inflates(bytes: Buffer): Promise<boolean> {
  return readBundle(bytes).then(
    () => true,
    () => false,
  );
}

function checkName(row: BundleRow): Fault | null {
  const { network, kind, start, end } = row;
  const expected = `a key of ${network}/${kind} ${start}-${end}`;
  try {
    const name = parseObjectKey(row.objectKey);
    const right = name.network === network && name.kind === kind && name.start === start && name.end === end;
    if (right) return null;
  } catch {
    // Said below.
  }
  return {
    cause: 'name',
    what: `its index row names the object ${row.objectKey}, expected ${expected}.`,
    expected,
    got: row.objectKey,
  };
}

async function damagedObject(row: BundleRow, bytes: Buffer, sha256: string): Promise<Fault> {
  if (bytes.length !== row.byteLength) return wrongSize(row, bytes.length);
  const where = await placeOfDamage(row, bytes);
  return {
    cause: 'sha256',
    what: `the object ${row.objectKey} has SHA-256 ${sha256}, expected ${row.sha256}: ${where}`,
    expected: row.sha256,
    got: sha256,
  };
}

/** Where the bytes differ from what the fragment table says, as far as that shows. */
async function placeOfDamage(row: BundleRow, bytes: Buffer): Promise<string> {
  try {
    for await (const _ of readFragments({ fragments: row.fragments, bytes }));
    return 'its bytes inflate to what they should, but are others.';
  } catch (error) {
    return lowerFirst((error as Error).message);
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
