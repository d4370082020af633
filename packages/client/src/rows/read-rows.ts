import { createReadStream } from 'node:fs';
import { streamRecords } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import { createMatcher, type Match } from './match.js';
import { createRowCollector, type JsonRecord } from './read-columns.js';
import type { RowBatch } from './schema.js';

/** Rows of a batch, or more if a block has more. */
const BATCH_ROWS = 8_192;

/** A checked bundle, and which of its rows are wanted. */
export type RowSource = ({ path: string } | { bytes: Uint8Array }) & {
  kind: Kind;
  /** The first block of the bundle. */
  start: number;
  /** First and last block that are wanted; absent: all. */
  from?: number;
  to?: number;
  match?: Match;
  /** Yields a batch once it has so many rows. */
  batchRows?: number;
};

/**
 * The rows of a bundle in its order, in batches. Blocks that are not wanted, or whose text does not hold what `match`
 * asks for, are not parsed. Holds one block and one batch. Throws BUNDLE_INVALID, RECORD_INVALID, USAGE.
 */
export async function* readRows(source: RowSource): AsyncGenerator<RowBatch, void, undefined> {
  const { kind, start, from = 0, to = Number.MAX_SAFE_INTEGER, match = {}, batchRows = BATCH_ROWS } = source;
  const matcher = createMatcher(kind, match);
  const rows = createRowCollector(kind);
  const pieces =
    'path' in source ? createReadStream(source.path, { highWaterMark: 1_048_576 }) : [source.bytes];
  let block = start - 1;
  for await (const text of streamRecords(iterable(pieces))) {
    block += 1;
    if (block > to) break;
    if (block < from || matcher?.mayHold(text) === false) continue;
    const value = JSON.parse(text.toString('latin1')) as JsonRecord | JsonRecord[];
    for (const record of Array.isArray(value) ? value : [value]) {
      if (matcher === null || matcher.has(record)) rows.add(record);
    }
    if (rows.rows >= batchRows) yield rows.take();
  }
  if (rows.rows > 0) yield rows.take();
}

async function* iterable(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
