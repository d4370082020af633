import { open } from 'node:fs/promises';
import { toPlainBatch } from '../rows/coded-column.js';
import type { Schema } from '../rows/schema.js';
import { orNotWritable } from '../whole-file.js';
import { openDuckDbSink } from './duckdb-sink.js';
import { openFolderSink, type RowFileFormat } from './folder-sink.js';
import type { ParquetFile, ParquetOptions } from './parquet-file.js';
import { newState, type Sink, type SinkOptions } from './sink.js';
import { CSV, JSONL, type TextFormat } from './text-rows.js';

/** Where rows go to. */
export type SinkTarget =
  | { format: 'jsonl' | 'csv' | 'parquet'; folder: string; partition?: number | undefined }
  | { format: 'duckdb'; file: string; table: string }
  /** `table` may be `schema.table`. */
  | { format: 'postgres'; url: string; table: string }
  /** Nothing is remembered: a run that is killed begins again. */
  | { format: 'jsonl' | 'csv'; write(text: string): Promise<void> };

const TEXTS = { jsonl: JSONL, csv: CSV };

/**
 * Opens a target, and makes it if there is none. What only one target needs is loaded with it: that takes as much CPU as
 * the rows of some files. Throws TARGET_MISMATCH, DISK_FULL, DATA_DIR_UNUSABLE, DATABASE_UNAVAILABLE, USAGE.
 */
export async function openSink(target: SinkTarget, options: SinkOptions): Promise<Sink> {
  if ('write' in target) return openStream(TEXTS[target.format], target.write, options);
  if (target.format === 'duckdb') return openDuckDbSink(target, options);
  if (target.format === 'postgres') {
    const { openPostgresSink } = await import('./postgres-sink.js');
    return openPostgresSink(target, options);
  }
  const format = await openFormat(target.format, options);
  return openFolderSink(target.folder, format, { ...options, partition: target.partition });
}

/** Makes a Parquet file that is no part of a folder. Throws DISK_FULL, DATA_DIR_UNUSABLE. */
export async function openParquetFile(name: string, options: ParquetOptions): Promise<ParquetFile> {
  const { createParquetFile } = await import('./parquet-file.js');
  return createParquetFile(name, options);
}

async function openFormat(
  format: 'jsonl' | 'csv' | 'parquet',
  { schema, network }: SinkOptions,
): Promise<RowFileFormat> {
  if (format !== 'parquet') return textFiles(TEXTS[format], schema);
  const { parquetFiles } = await import('./parquet-file.js');
  return parquetFiles(schema, network);
}

async function openStream(
  format: TextFormat,
  write: (text: string) => Promise<void>,
  { schema, origin }: SinkOptions,
): Promise<Sink> {
  const state = newState(origin);
  const head = format.head(schema);
  if (head !== '') await write(head);
  return {
    state,
    commitRows: 1,
    async write(batch) {
      state.rows += batch.rows;
      await write(format.rows(schema, toPlainBatch(batch)));
    },
    commit: async () => undefined,
    close: async () => undefined,
  };
}

/** Files of text, one million rows each. */
function textFiles(format: TextFormat, schema: Schema): RowFileFormat {
  return {
    extension: format.extension,
    rows: 1_000_000,
    async create(name) {
      const wrong = orNotWritable(name);
      const file = await open(name, 'w').catch(wrong);
      await file.writeFile(format.head(schema)).catch(wrong);
      return {
        write: (batch) => file.writeFile(format.rows(schema, toPlainBatch(batch))).catch(wrong),
        async finish() {
          try {
            await file.sync().catch(wrong);
          } finally {
            await file.close();
          }
        },
        abort: () => file.close(),
      };
    },
  };
}
