import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { streamRecords } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { createMatcher, type Match } from './match.js';
import { createRowCollector, type JsonRecord } from './read-columns.js';
import type { RowBatch } from './schema.js';

/** Rows of a batch, or more if a block has more. */
const BATCH_ROWS = 8_192;
/** Text that is parsed as one: finding the ends of its blocks first takes longer than parsing all of them. */
const WHOLE_BYTES = 33_554_432;

/** A checked bundle, and which of its rows are wanted. */
export type RowSource = ({ path: string } | { bytes: Uint8Array }) & {
  kind: Kind;
  /** The first block of the file. */
  fileFrom: number;
  /** First and last block that are wanted; absent: all. */
  from?: number;
  to?: number;
  match?: Match;
  /** Yields a batch once it has so many rows. */
  batchRows?: number;
};

/**
 * The rows of a bundle in its order, in batches. What does not hold the texts that `match` asks for is not parsed.
 * Holds one bundle, or one block of a bundle with more than 32 MiB of text. Throws BUNDLE_INVALID, RECORD_INVALID, USAGE.
 */
export async function* readRows(source: RowSource): AsyncGenerator<RowBatch, void, undefined> {
  const {
    kind,
    fileFrom,
    from = 0,
    to = Number.MAX_SAFE_INTEGER,
    match = {},
    batchRows = BATCH_ROWS,
  } = source;
  const matcher = createMatcher(kind, match);
  const rows = createRowCollector(kind);
  let block = fileFrom - 1;
  for await (const blocks of getBlocks(source, matcher?.mayHold)) {
    for (const value of blocks) {
      block += 1;
      if (value === null || block < from || block > to) continue;
      for (const record of Array.isArray(value) ? value : [value]) {
        if (matcher === null || matcher.has(record)) rows.add(record);
      }
      if (rows.rows >= batchRows) yield rows.take();
    }
    if (block >= to) break;
  }
  if (rows.rows > 0) yield rows.take();
}

type Block = JsonRecord | JsonRecord[];

/** Parses a bundle, whole or block by block; null is a block that holds nothing that is wanted. */
async function* getBlocks(
  source: { path: string } | { bytes: Uint8Array },
  mayHold: (text: Buffer) => boolean = () => true,
): AsyncGenerator<(Block | null)[]> {
  const whole = await wholeText(source);
  if (whole !== null) {
    if (mayHold(whole)) yield parsed(whole) as Block[];
    return;
  }
  const pieces = 'path' in source ? createReadStream(source.path) : [source.bytes];
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

/** The text of a bundle, or null if it is long. Its length is in the last four bytes (RFC 1952). */
async function wholeText(source: { path: string } | { bytes: Uint8Array }): Promise<Buffer | null> {
  let bytes = 'bytes' in source ? source.bytes : null;
  if (bytes === null) {
    const file = await open((source as { path: string }).path);
    try {
      const { size } = await file.stat();
      if (size > WHOLE_BYTES) return null;
      bytes = await file.readFile();
    } finally {
      await file.close();
    }
  }
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
