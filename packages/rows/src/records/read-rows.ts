import type { Kind } from '@packhouse/chain';
import { skipSpace } from '@packhouse/json';
import { type Bundle, getBlocks, wholeText } from './bundle-text.js';
import { type CodedBatch, toPlainBatch } from './coded-column.js';
import { createFailedPaths } from './failed-traces.js';
import { createMatcher, type Match } from './match.js';
import {
  type BlockRows,
  createRowCollector,
  hasReceiptColumns,
  hasTimeColumn,
  toSchema,
} from './read-columns.js';
import { RecordScanner } from './scan-records.js';
import type { RowBatch, Schema } from './schema.js';
import { toReceiptSchema, withReceipts } from './with-receipts.js';

const [COMMA, OPEN_BRACKET, CLOSE_BRACKET] = [0x2c, 0x5b, 0x5d];

/** Rows of a batch, or more if a block has more. */
const BATCH_ROWS = 8_192;

/** A checked bundle, and which of its rows are wanted. */
export type RowSource = Bundle & {
  kind: Kind;
  /** Of the network, as the file's entry in the manifest has it. */
  chainId: number;
  /** The columns; absent: `toSchema(kind)`. */
  schema?: Schema;
  /** The first block of the file. */
  fileFrom: number;
  /** The times of all its blocks, in seconds since 1970; asked for if a record does not tell it. Null: not known. */
  times?: (() => Promise<readonly number[] | null>) | undefined;
  /** The text of a block's receipts, for columns of transactions that have them; null: not known. Asked in ascending order. */
  receipts?: ((block: number) => Promise<Buffer | null>) | undefined;
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
  for await (const batch of readCodedRows(source)) yield toPlainBatch(batch);
}

/** The same as `readRows`, with columns coded where the bundle allows it. */
export async function* readCodedRows(source: RowSource): AsyncGenerator<CodedBatch, void, undefined> {
  const { kind, receipts, schema = toSchema(kind), match = {} } = source;
  const matcher = createMatcher(schema, match);
  const textOf = hasReceiptColumns(schema) ? receipts : undefined;
  for await (const read of readRecords(source, matcher?.schema ?? schema, matcher?.mayHold)) {
    const batch = matcher === null ? read : matcher.choose(read);
    const { rows, columns } = batch;
    if (rows === 0) continue;
    const beside = textOf === undefined ? null : await readReceipts(batch, textOf, schema);
    yield beside === null ? { rows, columns } : withReceipts(batch, beside, schema);
  }
}

/** Reads the receipts of the blocks that rows are of; null: none are known. */
async function readReceipts(
  { blocks }: BlockRows,
  textOf: NonNullable<RowSource['receipts']>,
  schema: Schema,
): Promise<BlockRows | null> {
  const own = [...new Set(blocks)];
  const texts: (Buffer | null)[] = [];
  for (const block of own) texts.push(await textOf(block));
  if (texts.every((text) => text === null)) return null;
  const pieces = texts.flatMap((text, at) => [at === 0 ? BEGIN : BETWEEN, text ?? NO_RECORDS]);
  const part = toReceiptSchema(schema);
  const source = {
    text: Buffer.concat([...pieces, END]),
    kind: 'receipts' as const,
    chainId: 0,
    fileFrom: 0,
    batchRows: Number.POSITIVE_INFINITY,
  };
  const batches: BlockRows[] = [];
  for await (const batch of readRecords(source, part)) batches.push(batch);
  const { blocks: places, ...rows } =
    batches.length === 1 ? (batches[0] as BlockRows) : joined(batches, part);
  return { ...rows, blocks: places.map((place) => own[place] as number) };
}

/** Some of the receipts were scanned, and others parsed, or there are none. */
function joined(batches: readonly BlockRows[], schema: Schema): BlockRows {
  const plain = batches.map(toPlainBatch);
  const { columns } = createRowCollector(schema).take();
  for (const name of Object.keys(columns))
    columns[name] = plain.flatMap((batch) => batch.columns[name] ?? []);
  const blocks = batches.flatMap((batch) => batch.blocks);
  return { rows: blocks.length, columns, blocks };
}

/** The rows of a bundle, without what their receipts tell. */
async function* readRecords(
  source: Omit<RowSource, 'receipts' | 'match'> & Bundle,
  schema: Schema,
  mayHold: (text: Buffer) => boolean = () => true,
): AsyncGenerator<BlockRows, void, undefined> {
  const { kind, chainId, fileFrom, from = 0, to = Number.MAX_SAFE_INTEGER, batchRows = BATCH_ROWS } = source;
  const rows = createRowCollector(schema);
  const timeOf = openTimes(source, schema);
  let block = fileFrom - 1;
  let text = await wholeText(source);
  if (text !== null && !mayHold(text)) return;
  const scanner = text === null ? null : RecordScanner.create(text, schema, chainId);
  if (text !== null && scanner !== null) {
    try {
      const left = yield* scanBlocks(text, scanner, { fileFrom, from, to, batchRows, timeOf });
      if (left === null) return;
      block += left.scanned;
      text = left.text;
    } finally {
      scanner.close();
    }
  }
  for await (const blocks of getBlocks(source, text, mayHold)) {
    for (const value of blocks) {
      block += 1;
      if (value === null || block < from || block > to) continue;
      const records = Array.isArray(value) ? value : [value];
      if (records.length === 0) continue;
      const time = await timeOf(block, records[0]?.blockTimestamp);
      const isFailed = kind === 'traces' && schema.peer !== undefined ? createFailedPaths() : null;
      const beside = { block, chainId, time, failed: false };
      for (const record of records) {
        beside.failed = isFailed?.(JSON.stringify(record.traceAddress), record.error != null) ?? false;
        // As cryo, which leaves out what was undone.
        if (!(beside.failed && schema.peer === 'cryo')) rows.add(record, beside);
      }
      if (rows.rows >= batchRows) yield rows.take();
    }
    if (block >= to) break;
  }
  if (rows.rows > 0) yield rows.take();
}

/** How the rows of a whole text are scanned. */
interface Scan extends Required<Pick<RowSource, 'fileFrom' | 'from' | 'to' | 'batchRows'>> {
  timeOf: ReturnType<typeof openTimes>;
}

/** Yields what can be scanned. Returns the number of those blocks and the text of the others; null: there are none. */
async function* scanBlocks(
  text: Buffer,
  scanner: RecordScanner,
  { fileFrom, from, to, batchRows, timeOf }: Scan,
): AsyncGenerator<BlockRows, { scanned: number; text: Buffer } | null, undefined> {
  let scanned = 0;
  const start = skipSpace(text, 0);
  let at = start + 1;
  if (text[start] !== OPEN_BRACKET) return { scanned, text };
  let isEnd = false;
  while (!isEnd) {
    const block = fileFrom + scanned;
    const end = scanner.scan(skipSpace(text, at));
    const after = end === -1 ? -1 : endOfElement(text, end);
    if (after === -1) break;
    if (block >= from && block <= to && scanner.hasRows) {
      if (!scanner.add(block, await timeOf(block, scanner.ownTime))) break;
      if (scanner.rows >= batchRows) yield scanner.take();
    }
    scanned += 1;
    at = after;
    isEnd = after === text.length || block >= to;
  }
  if (scanner.rows > 0) yield scanner.take();
  if (isEnd) return null;
  // With a block that is skipped before the comma, which is a fault if nothing is behind it.
  return scanned === 0
    ? { scanned, text }
    : { scanned: scanned - 1, text: Buffer.concat([SKIPPED, text.subarray(at - 1)]) };
}

const SKIPPED = Buffer.from('[null');
const [BEGIN, NO_RECORDS, BETWEEN, END] = ['[', '[]', ',', ']'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];

/** Offset of what follows an element of the text's array, which is the text's length for the last; -1 if nothing does. */
function endOfElement(text: Buffer, end: number): number {
  const at = skipSpace(text, end);
  if (text[at] === COMMA) return at + 1;
  return text[at] === CLOSE_BRACKET && skipSpace(text, at + 1) === text.length ? text.length : -1;
}

/**
 * Asks for the times of blocks. `own` is what a record has: one that a node sent was checked against the header before it
 * was published.
 */
function openTimes({ fileFrom, times }: Pick<RowSource, 'fileFrom' | 'times'>, schema: Schema) {
  const withTime = hasTimeColumn(schema);
  let known: readonly number[] | null | undefined;
  return async (block: number, own: unknown): Promise<number | null> => {
    if (!withTime) return null;
    if (own != null) return Number(own);
    if (known === undefined) known = (await times?.()) ?? null;
    return known?.[block - fileFrom] ?? null;
  };
}
