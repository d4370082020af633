import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { bundleInvalid } from './bundle-invalid.js';
import { MAX_RATIO } from './inflate-fragment.js';
import { splitArray } from './split-array.js';

const inflate = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** Header, an empty deflate stream, trailer. */
const LEAST_BYTES = 20;

/** A bundle that was read whole. */
export interface BundleText {
  /** The JSON array. */
  text: Buffer;
  /** The text of each of its elements, one a block, as views of `text`. */
  records: Buffer[];
}

/**
 * Inflates a whole bundle and cuts it into its records; gunzip checks the CRC-32.
 *
 * For files of about 1 MB; `readRecords` reads any size in bounded memory. Never makes more text than the file's own
 * trailer announces, nor more than `maxRawBytes` (default 1 GiB). Throws BUNDLE_INVALID.
 */
export async function readBundle(gz: Buffer, options: { maxRawBytes?: number } = {}): Promise<BundleText> {
  const max = options.maxRawBytes ?? 2 ** 30;
  if (gz.length < LEAST_BYTES) throw bundleInvalid(`A bundle of ${gz.length} bytes is cut off.`);
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
  return { text, records: splitArray(text) };
}
