import { open } from 'node:fs/promises';
import zlib from 'node:zlib';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { type Column, type ColumnType, type RowBatch, type Schema, toBytes } from '../rows/schema.js';
import { notWritable } from '../whole-file.js';
import type { RowFileFormat } from './folder-sink.js';

/** Rows of a row group, and characters of its texts: what is held in memory. A larger batch is a group of its own. */
const GROUP_ROWS = 61_440;
const GROUP_CHARACTERS = 50_331_648;

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

/** How a type of column is written. JSON is text: readers parse it by their own functions. */
const ELEMENTS: Readonly<Record<ColumnType, Omit<Element, 'name'>>> = {
  BIGINT: { type: 'INT64' },
  INTEGER: { type: 'INT32' },
  UBIGINT: { type: 'INT64', converted_type: 'UINT_64' },
  UINTEGER: { type: 'INT32', converted_type: 'UINT_32' },
  DOUBLE: { type: 'DOUBLE' },
  'DECIMAL(38,0)': {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    precision: 38,
    scale: 0,
    logical_type: { type: 'DECIMAL', precision: 38, scale: 0 },
  },
  TEXT: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  BYTEA: { type: 'BYTE_ARRAY' },
  JSON: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  BOOLEAN: { type: 'BOOLEAN' },
  TIMESTAMP: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' } },
};

/** Zstandard where Node has it (22.15), else gzip: both are in every reader of Parquet. */
const COMPRESSION: Pick<ConstructorParameters<typeof ParquetWriter>[0], 'codec' | 'compressors'> = (() => {
  const zstd = (zlib as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }).zstdCompressSync;
  if (zstd !== undefined) return { codec: 'ZSTD', compressors: { ZSTD: (bytes) => zstd(bytes) } };
  return { codec: 'GZIP', compressors: { GZIP: (bytes) => zlib.gzipSync(bytes, { level: 1 }) } };
})();

/** Parquet files of a million rows or so, in row groups by block order; no bloom filters. */
export function parquetFiles(schema: Schema, network: string): RowFileFormat {
  return {
    extension: 'parquet',
    rows: 1_000_000,
    async create(name) {
      const guarded = <T>(step: () => T): T => {
        try {
          return step();
        } catch (error) {
          throw 'code' in (error as Error) ? notWritable(name, error) : error;
        }
      };
      const columns = schema.columns.map((column) => ({ ...column, values: [] as Column }));
      const held = { rows: 0, characters: 0 };
      const writer = guarded(
        () =>
          new ParquetWriter({
            writer: fileWriter(name),
            schema: [{ name: 'rows', num_children: columns.length }, ...columns.map(toElement)],
            ...COMPRESSION,
            createdBy: 'packhouse',
            kvMetadata: [
              { key: 'packhouse.schema', value: schema.name },
              { key: 'packhouse.network', value: network },
            ],
          }),
      );
      const flush = (): void => {
        if (held.rows === 0) return;
        const columnData = columns.map(({ name, type, values }) => ({
          name,
          data: physical(type, values),
          statistics: type !== 'JSON',
        }));
        guarded(() => writer.write({ columnData, rowGroupSize: held.rows }));
        for (const column of columns) column.values = [];
        Object.assign(held, { rows: 0, characters: 0 });
      };
      return {
        async write(batch) {
          held.rows += batch.rows;
          for (const column of columns) held.characters += append(column, batch);
          if (held.rows >= GROUP_ROWS || held.characters >= GROUP_CHARACTERS) flush();
        },
        async finish() {
          flush();
          guarded(() => writer.finish());
          const file = await open(name, 'r+');
          try {
            await file.sync();
          } finally {
            await file.close();
          }
        },
        abort: async () => undefined,
      };
    },
  };
}

function toElement({ name, type, required }: Schema['columns'][number]): Element {
  return { name, ...ELEMENTS[type], repetition_type: required ? 'REQUIRED' : 'OPTIONAL' };
}

/** Adds the values of a batch to a column; returns the characters of its texts. */
function append(
  { name, type, values }: { name: string; type: ColumnType; values: Column },
  batch: RowBatch,
): number {
  const added = batch.columns[name] as Column;
  let characters = 0;
  const texts = isText(type);
  for (const value of added) {
    values.push(value);
    if (texts && value !== null) characters += (value as string).length;
  }
  return characters;
}

function isText(type: ColumnType): boolean {
  return type === 'TEXT' || type === 'JSON' || type === 'BYTEA';
}

/** INT64 takes bigints only. */
function physical(type: ColumnType, values: Column): unknown[] {
  if (type === 'BYTEA') return values.map((value) => (value === null ? null : toBytes(value)));
  if (type === 'BIGINT' || type === 'UBIGINT')
    return values.map((value) => (value === null ? null : BigInt(value)));
  if (type !== 'TIMESTAMP') return values;
  return values.map((value) => (value === null ? null : BigInt(value) * 1_000_000n));
}
