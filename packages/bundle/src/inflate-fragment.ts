import { promisify } from 'node:util';
import { constants, crc32, inflateRaw, type ZlibOptions } from 'node:zlib';
import { bundleInvalid } from './bundle-invalid.js';
import { SYNC_FLUSH } from './deflate-piece.js';
import type { FragmentInfo } from './fragment.js';

const inflate = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** DEFLATE cannot do better: 258 bytes for two bits. */
export const MAX_RATIO = 1_032;

/**
 * The raw text of a fragment, checked against its length and CRC-32. Never makes more than `rawLength` bytes.
 *
 * Throws BUNDLE_INVALID that says what does not agree.
 */
export async function inflateFragment(options: { fragment: FragmentInfo; body: Buffer }): Promise<Buffer> {
  const { fragment, body } = options;
  const name = `fragment ${fragment.startBlock}-${fragment.endBlock}`;
  if (body.length !== fragment.byteLength) {
    throw bundleInvalid(`The body of ${name} has ${body.length} bytes, expected ${fragment.byteLength}.`);
  }
  if (!body.subarray(-SYNC_FLUSH.length).equals(SYNC_FLUSH)) {
    throw bundleInvalid(`The body of ${name} does not end in a sync flush.`);
  }
  if (fragment.rawLength > body.length * MAX_RATIO) {
    throw bundleInvalid(
      `The ${body.length} bytes of ${name} cannot hold ${fragment.rawLength} bytes of text.`,
    );
  }
  let text: Buffer;
  try {
    text = await inflate(body, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: Math.max(1, fragment.rawLength),
      // One byte more than there is, so that zlib sees the end without asking for another buffer.
      chunkSize: Math.max(64, fragment.rawLength + 1),
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw bundleInvalid(
        `The text of ${name} is longer than the ${fragment.rawLength} bytes expected.`,
        error,
      );
    }
    throw bundleInvalid(`The body of ${name} cannot be inflated.`, error);
  }
  if (text.length !== fragment.rawLength) {
    throw bundleInvalid(`The text of ${name} has ${text.length} bytes, expected ${fragment.rawLength}.`);
  }
  const crc = crc32(text);
  if (crc !== fragment.crc32) {
    throw bundleInvalid(
      `The text of ${name} has CRC-32 ${crc.toString(16)}, expected ${fragment.crc32.toString(16)}.`,
    );
  }
  return text;
}
