import { createHash, hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import {
  type FragmentRecords,
  memberFrame,
  objectKey,
  parseObjectKey,
  readBundle,
  readFragments,
} from '@packhouse/bundle';
import type { BundleRow } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { type Fault, missingObject, wrongSize } from './finding.js';
import { readIfStored } from './read-if-stored.js';

/** A bundle larger than this, packed or unpacked, is read as a stream and never held in memory. */
const GIANT_BYTES = 67_108_864;

/** A bundle whose bytes are those of its index row. */
export interface OpenedBundle {
  row: BundleRow;
  /** null for a bundle that is read as a stream. */
  bytes: Buffer | null;
  /** Fragment by fragment; null for one that is read as a stream: it has one record. */
  fragments: AsyncIterable<FragmentRecords> | null;
}

/** Whether a bundle is read as a stream. */
export function isGiant(row: BundleRow): boolean {
  return row.byteLength > GIANT_BYTES || row.fragments.some(({ rawLength }) => rawLength > GIANT_BYTES);
}

/**
 * Reads a bundle's object and compares it with its index row: name, length, SHA-256. Reports a difference, with the
 * place of the damage if it can be found, and returns null: no content of the bundle is reliable.
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
  const bytes = await readIfStored(objectStore, row.objectKey, { signal });
  if (bytes === null) {
    report.fault(row, missingObject(row, objectStore));
    return null;
  }
  report.read(bytes.length);
  const sha256 = hash('sha256', bytes);
  if (sha256 === row.sha256) {
    return { row, bytes, fragments: readFragments({ fragments: row.fragments, bytes }) };
  }
  report.fault(row, await damagedObject(row, bytes, sha256));
  return null;
}

/**
 * Compares an object that is too large for memory with its index row, in one pass over its bytes: length, SHA-256,
 * gzip, and the text's length and CRC-32 (a record of that size is a fragment of its own).
 */
async function checkGiant(
  { objectStore, report }: { objectStore: ObjectStore; report: AuditReport },
  row: BundleRow,
  signal: AbortSignal,
): Promise<boolean> {
  const hash = createHash('sha256');
  let bytes = 0;
  let crc = 0;
  let rawLength = 0;
  let source: AsyncIterable<Buffer>;
  try {
    source = await objectStore.stream(row.objectKey, { signal });
  } catch (error) {
    if (!isPackhouseError(error, 'OBJECT_MISSING')) throw error;
    report.fault(row, missingObject(row, objectStore));
    return false;
  }
  let broken: string | null = null;
  try {
    await pipeline(
      source,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          bytes += chunk.length;
          report.read(chunk.length);
          yield chunk;
        }
      },
      createGunzip(),
      async (texts: AsyncIterable<Buffer>) => {
        for await (const text of texts) {
          crc = crc32(text, crc);
          rawLength += text.length;
        }
      },
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || !code.startsWith('Z_')) throw error;
    broken = 'it cannot be inflated.';
  }
  const sha256 = hash.digest('hex');
  if (broken === null && bytes !== row.byteLength) {
    report.fault(row, wrongSize(row, bytes));
    return false;
  }
  if (broken !== null || sha256 !== row.sha256) {
    report.fault(row, {
      cause: broken === null ? 'sha256' : 'gzip',
      what: `the object ${row.objectKey} is damaged: ${broken ?? `its SHA-256 is ${sha256}, expected ${row.sha256}.`}`,
      expected: row.sha256,
      got: sha256,
    });
    return false;
  }
  const frame = memberFrame(row.fragments);
  if (rawLength === frame.rawLength && crc === frame.crc32 && bytes === frame.byteLength) return true;
  report.fault(row, {
    cause: 'fragmentTable',
    what: `its text has ${rawLength} bytes and CRC-32 ${crc.toString(16)}, but its fragment table makes ${frame.rawLength} and ${frame.crc32.toString(16)}.`,
  });
  return false;
}

/** The fault of a bundle that `readFragments` refuses although its SHA-256 is right: it was published like that. */
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
  const { network, kind, firstBlock, lastBlock } = row;
  const expected = `a key of ${network}/${kind} ${firstBlock}-${lastBlock}`;
  try {
    const { version } = parseObjectKey(row.objectKey);
    if (objectKey({ network, kind, firstBlock, lastBlock, version }) === row.objectKey) return null;
  } catch {
    // Reported below.
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

/** Where the bytes differ from the fragment table, as far as known. */
async function placeOfDamage(row: BundleRow, bytes: Buffer): Promise<string> {
  try {
    for await (const _ of readFragments({ fragments: row.fragments, bytes }));
    return 'its bytes inflate to what they should, but are others.';
  } catch (error) {
    const { message } = error as Error;
    return message.charAt(0).toLowerCase() + message.slice(1);
  }
}
