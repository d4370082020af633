import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { memberFrame } from '@packhouse/bundle';
import type { BundleRow } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { missingObject, wrongSize } from './object-faults.js';

/**
 * Compares an object that is too large to be held with its index row, in one pass over its bytes: length, SHA-256,
 * gzip, and the text's length and CRC-32 against the fragment table (a giant record is a fragment of its own).
 */
export async function checkGiant(
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
