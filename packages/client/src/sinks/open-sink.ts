import { open } from 'node:fs/promises';
import type { Schema } from '@packhouse/rows';
import { openParquetFile, toPlainBatch } from '@packhouse/rows';
import { orNotWritable } from '@packhouse/runtime';
import { openFolderSink, type RowFileFormat } from './folder-sink.js';
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
  if (target.format === 'duckdb') {
    const { openDuckDbSink } = await import('./duckdb-sink.js');
    return openDuckDbSink(target, options);
  }
  if (target.format === 'postgres') {
    const { openPostgresSink } = await import('./postgres-table.js');
    return openPostgresSink(target, options);
  }
  const format =
    target.format === 'parquet' ? parquetFiles(options) : textFiles(TEXTS[target.format], options.schema);
  return openFolderSink(target.folder, format, { ...options, partition: target.partition });
}

/** Parquet files of a million rows or so. */
function parquetFiles({ schema, network }: SinkOptions): RowFileFormat {
  return {
    extension: 'parquet',
    rows: 1_000_000,
    async create(name) {
      const file = await openParquetFile(name, { schema, network });
      return {
        write: file.write,
        finish: async () => void (await file.finish()),
        abort: async () => undefined,
      };
    },
  };
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
