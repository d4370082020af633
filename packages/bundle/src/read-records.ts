import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PackhouseError } from '@packhouse/runtime';
import { bundleInvalid } from './bundle-invalid.js';
import { createRecordScanner } from './record-scanner.js';

/**
 * The record texts of a bundle that arrives in pieces, one a block, as they arrive.
 *
 * Holds one record and a few pieces at a time; a record of more than `maxRecordBytes` (default 1 GiB) is refused.
 * Stopping early closes the source. Throws BUNDLE_INVALID, and whatever the source throws.
 */
export async function* readRecords(
  source: AsyncIterable<Uint8Array>,
  options: { maxRecordBytes?: number } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const scanner = createRecordScanner({ form: 'array', maxRecordBytes: options.maxRecordBytes ?? 2 ** 30 });
  const gunzip = createGunzip({ chunkSize: 65_536 });
  // Its errors destroy gunzip, and so reach the loop below.
  pipeline(Readable.from(source, { objectMode: false }), gunzip, () => {});
  try {
    for await (const chunk of gunzip) yield* scanner.push(chunk as Buffer);
    yield* scanner.finish();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (error instanceof PackhouseError || code === undefined || !code.startsWith('Z_')) throw error;
    throw bundleInvalid('The bundle cannot be inflated.', error);
  } finally {
    gunzip.destroy();
  }
}
