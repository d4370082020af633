import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  type BlockRange,
  intersectRanges,
  type Kind,
  subtractRanges,
  type TableName,
} from '@packhouse/chain';
import type { NewLakeFile, PublishedFile } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { putVerified } from '@packhouse/pipeline';
import { type CodedBatch, columnReader, openParquetFile, sliceBatch } from '@packhouse/rows';
import type { Field } from '../iceberg/fields.js';
import { lakeFileKey } from '../iceberg/file-key.js';
import type { Lacks } from './ready-blocks.js';
import { sha256InPool } from './sha256-in-pool.js';
import { tableSchema } from './table-rows.js';

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
  /** The bundles that its rows are read from, ascending, by kind. */
  files: Partial<Record<Kind, readonly PublishedFile[]>>;
  lacks: Lacks;
  /** Hex SHA-256 over these bundles, the columns and what lacks. */
  sources: string;
}

/** A data file by its blocks and the bundles of its cell. */
export function toWanted(
  kind: TableName,
  range: BlockRange,
  published: Partial<Record<Kind, readonly PublishedFile[]>>,
  lacks: Lacks,
): WantedFile {
  const hash = createHash('sha256').update(
    `${WRITER} ${tableSchema(kind).name} ${range.firstBlock}-${range.lastBlock}\n`,
  );
  const files: WantedFile['files'] = {};
  for (const [each, all] of Object.entries(published) as [Kind, readonly PublishedFile[]][]) {
    const touching = all.filter(
      (file) => subtractRanges(intersectRanges([file], [range]), lacks[each] ?? []).length > 0,
    );
    for (const { firstBlock, lastBlock, sha256 } of touching)
      hash.update(`${each} ${firstBlock}-${lastBlock} ${sha256}\n`);
    files[each] = touching;
  }
  for (const [each, blocks = []] of Object.entries(lacks))
    for (const { firstBlock, lastBlock } of blocks) hash.update(`lacks ${each} ${firstBlock}-${lastBlock}\n`);
  return { ...range, files, lacks, sources: hash.digest('hex') };
}

/** A data file that is being written. */
export interface OpenLakeFile {
  /** Adds rows of the file's blocks, whole blocks in their order. Throws DISK_FULL, DATA_DIR_UNUSABLE. */
  write(batch: CodedBatch): Promise<void>;
  /** Ends the file and stores it. Throws DISK_FULL, errors of the store. */
  finish(): Promise<NewLakeFile>;
}

/**
 * Begins a data file in a folder. It is stored under a key that depends on nothing but its bytes: a run that was killed is
 * repeated over what it left.
 */
export async function openLakeFile(
  { objectStore, folder, signal }: { objectStore: ObjectStore; folder: string; signal: AbortSignal },
  { network, kind, fields }: { network: string; kind: TableName; fields: readonly Field[] },
  { firstBlock, lastBlock, sources, lacks }: WantedFile,
): Promise<OpenLakeFile> {
  const name = path.join(folder, `${kind}-${firstBlock}.parquet`);
  const ids = new Map(fields.map((field) => [field.name, field.id]));
  const file = await openParquetFile(name, { schema: tableSchema(kind), network, fieldIds: ids });
  const groupBlocks = Math.max(1, Math.ceil((lastBlock - firstBlock + 1) / FILE_GROUPS));
  let group = { rows: 0, firstBlock };
  return {
    async write(batch) {
      const blockAt = columnReader(batch, 'block_number') as (row: number) => number;
      let from = 0;
      // Where groups end depends on the blocks alone, not on the batches that they come in.
      for (let to = 1; to <= batch.rows; to += 1) {
        const block = blockAt(to - 1);
        const isEnd = to === batch.rows || blockAt(to) !== block;
        if (!isEnd) continue;
        const isFull =
          group.rows + to - from >= MIN_GROUP_ROWS && block - group.firstBlock + 1 >= groupBlocks;
        if (!isFull && to < batch.rows) continue;
        signal.throwIfAborted();
        await file.write(from === 0 && to === batch.rows ? batch : sliceBatch(batch, from, to));
        group.rows += to - from;
        from = to;
        if (!isFull) continue;
        file.endGroup();
        group = { rows: 0, firstBlock: block + 1 };
      }
    },
    async finish() {
      const { rows, columns } = await file.finish();
      const bytes = await readFile(name);
      await rm(name);
      const sha256 = await sha256InPool(bytes);
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
        lacks,
      };
    },
  };
}
