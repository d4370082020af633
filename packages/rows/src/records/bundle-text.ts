import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { streamRecords } from '@packhouse/bundle';
import { PackhouseError } from '@packhouse/runtime';
import type { JsonRecord } from './read-columns.js';

/** Text that is parsed as one: finding the ends of its blocks first takes longer than parsing all of them. */
const WHOLE_BYTES = 33_554_432;

/** A bundle: a file, its bytes, or the text that `inflateBundle` made of them. */
export type Bundle = { path: string } | { bytes: Uint8Array } | { text: Buffer };

type Block = JsonRecord | JsonRecord[];

/** Parses a text, or a bundle block by block; null is a block that holds nothing that is wanted. */
export async function* getBlocks(
  source: Bundle,
  whole: Buffer | null,
  mayHold: (text: Buffer) => boolean,
): AsyncGenerator<(Block | null)[]> {
  if (whole !== null) {
    yield parsed(whole) as Block[];
    return;
  }
  const pieces = 'path' in source ? createReadStream(source.path) : [(source as { bytes: Uint8Array }).bytes];
  for await (const text of streamRecords(getEach(pieces))) {
    yield [mayHold(text) ? (parsed(text) as Block) : null];
  }
}

async function* getEach(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const inflate = promisify<Uint8Array, ZlibOptions, Buffer>(gunzip);

/** The text of a bundle, or null if it is long. */
export async function wholeText(source: Bundle): Promise<Buffer | null> {
  if ('text' in source) return source.text;
  if ('bytes' in source) return inflateBundle(source.bytes);
  const file = await open(source.path);
  try {
    const { size } = await file.stat();
    return size > WHOLE_BYTES ? null : await inflateBundle(await file.readFile());
  } finally {
    await file.close();
  }
}

/** The text of a bundle; null if it has more than 32 MiB, as its last four bytes say (RFC 1952). Throws BUNDLE_INVALID. */
export async function inflateBundle(bytes: Uint8Array): Promise<Buffer | null> {
  const length =
    bytes.length < 4 ? 0 : Buffer.from(bytes.buffer, bytes.byteOffset + bytes.length - 4).readUInt32LE();
  if (length > WHOLE_BYTES) return null;
  return inflate(bytes, { maxOutputLength: length + 1, chunkSize: Math.max(64, length + 1) }).catch(invalid);
}

/** Texts of bundles are ASCII. */
function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('latin1'));
  } catch (error) {
    return invalid(error);
  }
}

function invalid(cause: unknown): never {
  throw new PackhouseError({
    code: 'BUNDLE_INVALID',
    message: `The bundle cannot be read: ${(cause as Error).message}.`,
    hint: 'Check it with packhouse verify.',
    cause,
  });
}
