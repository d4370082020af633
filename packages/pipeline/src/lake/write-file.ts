import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BlockRange, intersectRanges, type Kind, type TableName } from '@packhouse/chain';
import { type CodedBatch, openParquetFile } from '@packhouse/client';
import type { Database, NewLakeFile, PublishedFile } from '@packhouse/database';
import { type Field, lakeFileKey } from '@packhouse/lake';
import type { ObjectStore } from '@packhouse/object-store';
import { putVerified } from '../publish/put-verified.js';
import { readTableRows, tableSchema } from './table-rows.js';

/** Part of what files are made of: another number makes all of them again. */
const WRITER = 'packhouse-lake-2';

/** Columns whose bounds exclude files: those of any other span nearly everything in a file. */
const BOUNDED = ['block_number', 'block_timestamp'];

/**
 * How many row groups share the blocks of a file, so that readers of few blocks read few bytes; but one has at least so many
 * rows: with fewer its dictionaries and bounds weigh more than they save.
 */
const FILE_GROUPS = 125;
const MIN_GROUP_ROWS = 2_048;

/** A data file that is to be there. */
export interface WantedFile extends BlockRange {
  /** The bundles that touch it, ascending, by kind: of all kinds that its rows need. */
  files: Partial<Record<Kind, readonly PublishedFile[]>>;
  /** Hex SHA-256 over these bundles and the columns. */
  sources: string;
}

/** A data file by its blocks and the bundles of its cell. */
export function toWanted(
  kind: TableName,
  range: BlockRange,
  published: Partial<Record<Kind, readonly PublishedFile[]>>,
): WantedFile {
  const hash = createHash('sha256').update(
    `${WRITER} ${tableSchema(kind).name} ${range.firstBlock}-${range.lastBlock}\n`,
  );
  const files: WantedFile['files'] = {};
  for (const [each, all] of Object.entries(published) as [Kind, readonly PublishedFile[]][]) {
    const touching = all.filter((file) => intersectRanges([file], [range]).length > 0);
    for (const { firstBlock, lastBlock, sha256 } of touching)
      hash.update(`${each} ${firstBlock}-${lastBlock} ${sha256}\n`);
    files[each] = touching;
  }
  return { ...range, files, sources: hash.digest('hex') };
}

/**
 * Writes the rows of a range as a Parquet file and stores it under a key that depends on nothing but its bytes: a run that
 * was killed is repeated over what it left. Throws OBJECT_MISSING and OBJECT_MISMATCH for a damaged bundle, BUNDLE_INVALID,
 * RECORD_INVALID, DISK_FULL, and errors of the store.
 */
export async function writeLakeFile(
  parts: { database: Database; objectStore: ObjectStore },
  table: { network: string; chainId: number; kind: TableName; fields: readonly Field[] },
  wanted: WantedFile,
  signal: AbortSignal,
): Promise<NewLakeFile> {
  const { objectStore } = parts;
  const { network, kind, fields } = table;
  const { firstBlock, lastBlock, sources } = wanted;
  const folder = await mkdtemp(path.join(tmpdir(), 'packhouse-lake-'));
  try {
    const from = { ...parts, network, folder, signal };
    const schema = tableSchema(kind);
    const name = path.join(folder, 'rows.parquet');
    const ids = new Map(fields.map((field) => [field.name, field.id]));
    const file = await openParquetFile(name, { schema, network, fieldIds: ids });
    const groupBlocks = Math.max(1, Math.ceil((lastBlock - firstBlock + 1) / FILE_GROUPS));
    let group = { rows: 0, firstBlock };
    for await (const batch of readTableRows(from, table, wanted)) {
      signal.throwIfAborted();
      await file.write(batch);
      group.rows += batch.rows;
      const last = lastOf(batch);
      if (group.rows < MIN_GROUP_ROWS || last - group.firstBlock + 1 < groupBlocks) continue;
      file.endGroup();
      group = { rows: 0, firstBlock: last + 1 };
    }
    const { rows, columns } = await file.finish();
    const bytes = await readFile(name);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const key = lakeFileKey({ network, kind, firstBlock, lastBlock, sha256 });
    const metadata = { range: `${firstBlock}-${lastBlock}` };
    const object = { key, bytes, sha256, contentType: 'application/vnd.apache.parquet', metadata };
    await putVerified(objectStore, object, signal);
    const stats = columns
      .filter(({ name: column }) => BOUNDED.includes(column))
      .map(({ name: column, ...each }) => [String(ids.get(column)), each] as const);
    return {
      firstBlock,
      lastBlock,
      rows,
      bytes: bytes.length,
      sha256,
      sources,
      objectKey: key,
      stats: Object.fromEntries(stats),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The last block of a batch, which is of whole blocks in their order. */
function lastOf({ rows, columns }: CodedBatch): number {
  const column = columns.block_number as CodedBatch['columns'][string];
  if (Array.isArray(column)) return column[rows - 1] as number;
  return column.values[column.places[rows - 1] as number] as number;
}
