import { open } from 'node:fs/promises';
import { notWritable } from '@packhouse/runtime';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { CodedColumn } from '../records/coded-column.js';
import type { Column, ColumnType } from '../records/schema.js';
import { openPageCompression } from './page-compression.js';
import { type ColumnChunk, ParquetColumn } from './parquet-column.js';
import type { ColumnTotals, ParquetFile, ParquetOptions, Table } from './parquet-options.js';

/** Rows of a row group, and bytes of its columns: what is held in memory. A larger batch is a group of its own. */
const GROUP_ROWS = 122_880;
const GROUP_BYTES = 50_331_648;
/** Bytes of bounds of texts that are not cut: with those of whole hashes, footers of many row groups would be twice as long. */
const BOUND_BYTES = 18;

type Element = ParquetWriter['schema'][number];
type RowGroup = ParquetWriter['row_groups'][number];

/** How a type of column is written. JSON is text: readers parse it by their own functions. */
const ELEMENTS: Readonly<Record<ColumnType, Omit<Element, 'name'> & Required<Pick<Element, 'type'>>>> = {
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

const { codec, compress } = openPageCompression();

/** Creates a Parquet file. Throws DISK_FULL, DATA_DIR_UNUSABLE. */
export function createParquetFile(name: string, { schema, network, fieldIds }: ParquetOptions): ParquetFile {
  const guarded = <T>(step: () => T): T => {
    try {
      return step();
    } catch (error) {
      throw 'code' in (error as Error) ? notWritable(name, error) : error;
    }
  };
  // It writes both ends of the file; the row groups between them are written here.
  const file = guarded(
    () =>
      new ParquetWriter({
        writer: fileWriter(name),
        schema: toElements(schema, fieldIds),
        statisticsTruncateLength: BOUND_BYTES,
        createdBy: 'packhouse',
        kvMetadata: [
          { key: 'packhouse.schema', value: schema.name },
          { key: 'packhouse.network', value: network },
        ],
      }),
  );
  const columns = schema.columns.map((column) => new ParquetColumn(column, compress));
  let rows = 0;
  const flush = (): void => {
    if (rows === 0) return;
    const chunks = columns.map((column) => column.finish());
    guarded(() => file.row_groups.push(writeGroup(file, schema, chunks, rows)));
    file.num_rows += BigInt(rows);
    rows = 0;
  };
  return {
    async write(batch) {
      rows += batch.rows;
      let bytes = 0;
      for (const [at, column] of columns.entries()) {
        column.add(batch.columns[schema.columns[at]?.name as string] as Column | CodedColumn);
        bytes += column.bytes;
      }
      if (rows >= GROUP_ROWS || bytes >= GROUP_BYTES) flush();
    },
    endGroup: flush,
    async finish() {
      flush();
      guarded(() => file.finish());
      const written = await open(name, 'r+');
      try {
        await written.sync();
      } finally {
        await written.close();
      }
      return { rows: Number(file.num_rows), columns: toTotals(schema, file.row_groups) };
    },
  };
}

/** Bounds of the numbers of a file, from those of its row groups. */
function toTotals({ columns }: Table, groups: readonly RowGroup[]): ColumnTotals[] {
  return columns.map(({ name, type }, at) => {
    let [min, max, nulls] = [null as bigint | null, null as bigint | null, 0];
    const isWhole =
      type === 'BIGINT' || type === 'INTEGER' || type === 'TIMESTAMP' || type === 'DECIMAL(38,0)';
    for (const { columns: chunks } of groups) {
      const statistics = chunks[at]?.meta_data?.statistics;
      nulls += Number(statistics?.null_count ?? 0);
      if (!isWhole || statistics?.min_value === undefined || statistics.max_value === undefined) continue;
      const [least, most] = [BigInt(statistics.min_value as bigint), BigInt(statistics.max_value as bigint)];
      if (min === null || least < min) min = least;
      if (max === null || most > max) max = most;
    }
    return { name, min: min?.toString() ?? null, max: max?.toString() ?? null, nulls };
  });
}

function writeGroup(
  { writer }: ParquetWriter,
  schema: Table,
  chunks: readonly ColumnChunk[],
  rows: number,
): RowGroup {
  const columns = chunks.map((chunk, at): RowGroup['columns'][number] => {
    const { name, type } = schema.columns[at] as Table['columns'][number];
    const { min, max, nulls, dictionary } = chunk;
    const start = writer.offset;
    for (const bytes of chunk.bytes) writer.appendBytes(bytes);
    return {
      file_offset: BigInt(start),
      meta_data: {
        type: ELEMENTS[type].type,
        encodings: chunk.encodings,
        path_in_schema: [name],
        codec,
        num_values: BigInt(chunk.values),
        total_uncompressed_size: BigInt(chunk.uncompressed),
        total_compressed_size: BigInt(chunk.compressed),
        data_page_offset: BigInt(start + (dictionary ?? 0)),
        ...(dictionary === null ? {} : { dictionary_page_offset: BigInt(start) }),
        statistics: {
          null_count: BigInt(nulls),
          ...(min === undefined || max === undefined ? {} : { min_value: min, max_value: max }),
        },
      },
    };
  });
  const sum = (of: (chunk: ColumnChunk) => number): bigint =>
    BigInt(chunks.reduce((total, chunk) => total + of(chunk), 0));
  return {
    columns,
    total_byte_size: sum(({ uncompressed }) => uncompressed),
    total_compressed_size: sum(({ compressed }) => compressed),
    num_rows: BigInt(rows),
  };
}

function toElements(schema: Table, fieldIds: ParquetOptions['fieldIds']): Element[] {
  const columns = schema.columns.map(
    ({ name, type, required }): Element => ({
      name,
      ...ELEMENTS[type],
      repetition_type: required ? 'REQUIRED' : 'OPTIONAL',
      ...(fieldIds === undefined ? {} : { field_id: fieldIds.get(name) as number }),
    }),
  );
  return [{ name: 'rows', num_children: columns.length }, ...columns];
}
