import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, type Gunzip, gunzip, type ZlibOptions } from 'node:zlib';
import { PackhouseError } from '@packhouse/runtime';
import { bundleInvalid } from './layout/fragment.js';
import { createRecordSplitter, MAX_RATIO } from './read-fragments.js';

/* Readers of a file without its fragment table; gunzip checks its CRC-32. */

const inflate = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** Header, an empty deflate stream, trailer. */
const MIN_BYTES = 20;

/** A bundle that was read whole. */
interface BundleText {
  /** The JSON array. */
  text: Buffer;
  /** The text of each of its elements, one a block, as views of `text`. */
  records: Buffer[];
}

/**
 * Inflates a whole bundle and cuts it into its records.
 *
 * For files of about 1 MB; `streamRecords` reads any size in bounded memory. Never makes more text than the file's own
 * trailer says, nor more than `maxRawBytes` (default 1 GiB). Throws BUNDLE_INVALID.
 */
export async function readBundle(gz: Buffer, options: { maxRawBytes?: number } = {}): Promise<BundleText> {
  const max = options.maxRawBytes ?? 2 ** 30;
  if (gz.length < MIN_BYTES) throw bundleInvalid(`A bundle of ${gz.length} bytes is cut off.`);
  const announced = gz.readUInt32LE(gz.length - 4);
  if (announced > max) {
    throw bundleInvalid(`The bundle announces ${announced} bytes of text, more than the ${max} allowed.`);
  }
  if (announced > gz.length * MAX_RATIO) {
    throw bundleInvalid(
      `The bundle's ${gz.length} bytes cannot hold the ${announced} bytes of text it announces.`,
    );
  }
  let text: Buffer;
  try {
    text = await inflate(gz, {
      maxOutputLength: Math.max(1, announced),
      chunkSize: Math.max(64, announced + 1),
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw bundleInvalid(`The bundle holds more text than the ${announced} bytes it announces.`, error);
    }
    throw bundleInvalid('The bundle cannot be inflated.', error);
  }
  if (text.length !== announced) {
    throw bundleInvalid(`The bundle holds ${text.length} bytes of text, but announces ${announced}.`);
  }
  const splitter = createRecordSplitter('array');
  const records = splitter.push(text);
  splitter.finish();
  return { text, records };
}

/**
 * The record texts of a bundle that arrives in pieces, one a block, as they arrive.
 *
 * Holds one record and a few pieces at a time; a record of more than `maxRecordBytes` (default 1 GiB) is refused.
 * Stopping early closes the source. Throws BUNDLE_INVALID, and the errors of the source.
 */
export async function* streamRecords(
  source: AsyncIterable<Uint8Array>,
  options: { maxRecordBytes?: number } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const splitter = createRecordSplitter('array', options.maxRecordBytes ?? 2 ** 30);
  const chunks = inflated(source);
  try {
    for await (const chunk of chunks) yield* splitter.push(chunk as Buffer);
    yield* splitter.finish();
  } catch (error) {
    throw asBundleError(error);
  } finally {
    chunks.destroy();
  }
}

/**
 * The elements of the record of a bundle that holds one block of one array (`[[a,b]]`), as they arrive: for records
 * that are too large to be held, as a block's traces may be.
 *
 * An element of more than `maxElementBytes` (default 64 MiB) is refused. Stopping early closes the source. Throws
 * BUNDLE_INVALID, and the errors of the source.
 */
export async function* streamElements(
  source: AsyncIterable<Uint8Array>,
  options: { maxElementBytes?: number } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const splitter = createRecordSplitter('array', options.maxElementBytes ?? 2 ** 26);
  const chunks = inflated(source);
  let begun = false;
  // Skips the outer brackets: the first byte, and the last, which is known only at the end.
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      if (!begun && chunk[0] !== 0x5b)
        throw bundleInvalid('The text is not a JSON array: it does not start with "[".');
      const inner: Buffer = begun ? chunk : chunk.subarray(1);
      begun = true;
      if (inner.length === 0) continue;
      if (held.length > 0) yield* splitter.push(held);
      yield* splitter.push(inner.subarray(0, -1));
      held = Buffer.from(inner.subarray(-1));
    }
    if (held[0] !== 0x5d) throw bundleInvalid('The text does not end with "]".');
    yield* splitter.finish();
  } catch (error) {
    throw asBundleError(error);
  } finally {
    chunks.destroy();
  }
}

/** The inflated source; errors of the source destroy it, and so reach its reader. */
function inflated(source: AsyncIterable<Uint8Array>): Gunzip {
  const chunks = createGunzip({ chunkSize: 65_536 });
  pipeline(Readable.from(source, { objectMode: false }), chunks, () => {});
  return chunks;
}

function asBundleError(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof PackhouseError || code === undefined || !code.startsWith('Z_')) return error;
  return bundleInvalid('The bundle cannot be inflated.', error);
}
