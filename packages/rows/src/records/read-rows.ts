import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { streamRecords } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import { skipSpace } from '@packhouse/json';
import { PackhouseError } from '@packhouse/runtime';
import { type CodedBatch, toPlainBatch } from './coded-column.js';
import { createFailures } from './failed-traces.js';
import { createMatcher, type Match } from './match.js';
import {
  type Beside,
  createRowCollector,
  hasReceiptColumns,
  hasTimeColumn,
  type JsonRecord,
  toSchema,
} from './read-columns.js';
import { RecordScanner } from './scan-records.js';
import type { RowBatch, Schema } from './schema.js';

const [COMMA, OPEN_BRACKET, CLOSE_BRACKET] = [0x2c, 0x5b, 0x5d];

/** Rows of a batch, or more if a block has more. */
const BATCH_ROWS = 8_192;
/** Text that is parsed as one: finding the ends of its blocks first takes longer than parsing all of them. */
const WHOLE_BYTES = 33_554_432;

/** A bundle: a file, its bytes, or the text that `inflateBundle` made of them. */
type Bundle = { path: string } | { bytes: Uint8Array } | { text: Buffer };

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
  const {
    kind,
    fileFrom,
    from = 0,
    to = Number.MAX_SAFE_INTEGER,
    match = {},
    schema = toSchema(kind),
    batchRows = BATCH_ROWS,
  } = source;
  const matcher = createMatcher(kind, match);
  const rows = createRowCollector(schema);
  const besides = createBesides(source, schema);
  let block = fileFrom - 1;
  let text = await wholeText(source);
  const scanner =
    text === null || matcher !== null ? null : RecordScanner.create(text, schema, source.chainId);
  if (text !== null && scanner !== null) {
    try {
      const left = yield* scanBlocks(text, scanner, { fileFrom, from, to, batchRows, besides });
      if (left === null) return;
      block += left.scanned;
      text = left.text;
    } finally {
      scanner.close();
    }
  }
  for await (const blocks of getBlocks(source, text, matcher?.mayHold)) {
    for (const value of blocks) {
      block += 1;
      if (value === null || block < from || block > to) continue;
      const records = Array.isArray(value) ? value : [value];
      if (records.length === 0) continue;
      const { beside, see } = await besides.of(block, records[0] as JsonRecord);
      for (const record of records) {
        const isRow = see(record);
        if (isRow && (matcher === null || matcher.has(record))) rows.add(record, beside);
      }
      if (rows.rows >= batchRows) yield rows.take();
    }
    if (block >= to) break;
  }
  if (rows.rows > 0) yield rows.take();
}

/** How the rows of a whole text are scanned. */
interface Scan extends Required<Pick<RowSource, 'fileFrom' | 'from' | 'to' | 'batchRows'>> {
  besides: ReturnType<typeof createBesides>;
}

/** Yields what can be scanned. Returns the number of those blocks and the text of the others; null: there are none. */
async function* scanBlocks(
  text: Buffer,
  scanner: RecordScanner,
  { fileFrom, from, to, batchRows, besides }: Scan,
): AsyncGenerator<CodedBatch, { scanned: number; text: Buffer } | null, undefined> {
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
      const time = await besides.timeOf(block, scanner.ownTime);
      if (!scanner.add(time, await besides.receiptsOf(block))) break;
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

/** Offset of what follows an element of the text's array, which is the text's length for the last; -1 if nothing does. */
function endOfElement(text: Buffer, end: number): number {
  const at = skipSpace(text, end);
  if (text[at] === COMMA) return at + 1;
  return text[at] === CLOSE_BRACKET && skipSpace(text, at + 1) === text.length ? text.length : -1;
}

/** What of the rows of a block is not in its records. */
interface BlockBeside {
  /** Of the record that was seen last. */
  beside: Beside;
  /** To be called with each record of the block, in order; false: the table has no row of it. */
  see(record: JsonRecord): boolean;
}

function createBesides({ kind, chainId, fileFrom, ...source }: RowSource, schema: Schema) {
  const withTime = hasTimeColumn(schema);
  const withReceipts = hasReceiptColumns(schema);
  const withFailures = kind === 'traces' && schema.peer !== undefined;
  let times: readonly number[] | null | undefined;
  /** `own`: as a record has it. One that a node sent was checked against the header before it was published. */
  const timeOf = async (block: number, own: unknown): Promise<number | null> => {
    if (!withTime) return null;
    if (own != null) return Number(own);
    if (times === undefined) times = (await source.times?.()) ?? null;
    return times?.[block - fileFrom] ?? null;
  };
  let last: { block: number; text: Buffer | null } | null = null;
  const receiptsOf = async (block: number): Promise<Buffer | null> => {
    if (!withReceipts) return null;
    if (last?.block !== block) last = { block, text: (await source.receipts?.(block)) ?? null };
    return last.text;
  };
  return {
    timeOf,
    receiptsOf,
    async of(block: number, first: JsonRecord): Promise<BlockBeside> {
      const beside: Beside = { chainId, time: null, receipt: null, failed: false };
      beside.time = await timeOf(block, first.blockTimestamp);
      const text = await receiptsOf(block);
      const receipts = text === null ? null : (parsed(text) as JsonRecord[]);
      const failures = withFailures ? createFailures() : null;
      let index = -1;
      return {
        beside,
        see(record) {
          index += 1;
          const receipt = receipts?.[index];
          beside.receipt = receipt?.transactionHash === record.hash ? (receipt ?? null) : null;
          beside.failed = failures?.isFailed(record) ?? false;
          // As cryo, which leaves out what was undone.
          return !(beside.failed && schema.peer === 'cryo');
        },
      };
    },
  };
}

type Block = JsonRecord | JsonRecord[];

/** Parses a text, or a bundle block by block; null is a block that holds nothing that is wanted. */
async function* getBlocks(
  source: Bundle,
  whole: Buffer | null,
  mayHold: (text: Buffer) => boolean = () => true,
): AsyncGenerator<(Block | null)[]> {
  if (whole !== null) {
    if (mayHold(whole)) yield parsed(whole) as Block[];
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
async function wholeText(source: Bundle): Promise<Buffer | null> {
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
