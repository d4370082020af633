import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PackhouseError } from '@packhouse/runtime';
import { bundleInvalid } from './bundle-invalid.js';
import { createRecordScanner } from './record-scanner.js';

/**
 * The elements of the record of a bundle that holds one block of one array (`[[a,b]]`), as they arrive: for records
 * that are too large to be held, as a block's traces may be.
 *
 * An element of more than `maxElementBytes` (default 64 MiB) is refused. Stopping early closes the source. Throws
 * BUNDLE_INVALID, and whatever the source throws.
 */
export async function* readElements(
  source: AsyncIterable<Uint8Array>,
  options: { maxElementBytes?: number } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const scanner = createRecordScanner({
    form: 'array',
    maxRecordBytes: options.maxElementBytes ?? 2 ** 26,
  });
  const gunzip = createGunzip({ chunkSize: 65_536 });
  // Its errors destroy gunzip, and so reach the loop below.
  pipeline(Readable.from(source, { objectMode: false }), gunzip, () => {});
  let begun = false;
  // The outer brackets are left out: the first byte, and the last, which is known only at the end.
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      if (!begun && chunk[0] !== 0x5b)
        throw bundleInvalid('The text is not a JSON array: it does not start with "[".');
      const inner: Buffer = begun ? chunk : chunk.subarray(1);
      begun = true;
      if (inner.length === 0) continue;
      if (held.length > 0) yield* scanner.push(held);
      yield* scanner.push(inner.subarray(0, -1));
      held = Buffer.from(inner.subarray(-1));
    }
    if (held[0] !== 0x5d) throw bundleInvalid('The text does not end with "]".');
    yield* scanner.finish();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (error instanceof PackhouseError || code === undefined || !code.startsWith('Z_')) throw error;
    throw bundleInvalid('The bundle cannot be inflated.', error);
  } finally {
    gunzip.destroy();
  }
}
