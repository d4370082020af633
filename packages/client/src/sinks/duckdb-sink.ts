import { createRequire } from 'node:module';
import {
  type CodedBatch,
  type Column,
  type ColumnType,
  quoted,
  toBytes,
  toPlainBatch,
} from '@packhouse/rows';
import { noSpace, PackhouseError } from '@packhouse/runtime';
import type { Sink, SinkOptions } from './sink.js';
import { openSqlSink } from './sql-table.js';

/** What is used of @duckdb/node-api 1.5, which is installed by who wants it: 70 MB. */
interface DuckDb {
  DuckDBInstance: {
    create(
      file: string,
      settings: Record<string, string>,
    ): Promise<{ connect(): Promise<Connection>; closeSync(): void }>;
  };
  DuckDBDataChunk: { create(types: readonly unknown[]): Chunk };
  DuckDBDecimalValue: new (value: bigint, width: number, scale: number) => unknown;
  DuckDBTimestampValue: new (microseconds: bigint) => unknown;
  DuckDBBlobValue: new (bytes: Uint8Array) => unknown;
  DECIMAL(width: number, scale: number): unknown;
  BIGINT: unknown;
  INTEGER: unknown;
  UBIGINT: unknown;
  UINTEGER: unknown;
  DOUBLE: unknown;
  VARCHAR: unknown;
  BLOB: unknown;
  BOOLEAN: unknown;
  TIMESTAMP: unknown;
}
interface Connection {
  runAndReadAll(sql: string, values?: readonly unknown[]): Promise<{ getRows(): unknown[][] }>;
  createAppender(table: string): Promise<{ appendDataChunk(chunk: Chunk): void; closeSync(): void }>;
  closeSync(): void;
}
interface Chunk {
  rowCount: number;
  reset(): void;
  setColumnValues(column: number, values: readonly unknown[]): void;
}

/** The package; USAGE with how to get it if it is not installed. */
export function loadDuckDb(): DuckDb {
  try {
    // Not `import`: this looks into NODE_PATH too.
    return createRequire(import.meta.url)('@duckdb/node-api') as DuckDb;
  } catch (cause) {
    throw new PackhouseError({
      code: 'USAGE',
      message: 'DuckDB is not installed beside packhouse.',
      hint: 'Run npm install @duckdb/node-api@1.5.6-r.1, or pull with --format parquet, which DuckDB reads.',
      cause,
    });
  }
}

/** What DuckDB may take: a table of any size is filled with it. */
const MEMORY = '256MB';
/** Rows of a chunk: DuckDB's vectors have no more. */
const CHUNK_ROWS = 2_048;

/** The names that DuckDB has for the types of columns. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  BIGINT: 'BIGINT',
  INTEGER: 'INTEGER',
  UBIGINT: 'UBIGINT',
  UINTEGER: 'UINTEGER',
  DOUBLE: 'DOUBLE',
  'DECIMAL(38,0)': 'DECIMAL(38,0)',
  TEXT: 'VARCHAR',
  BYTEA: 'BLOB',
  BOOLEAN: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMP',
  JSON: 'JSON',
};

/**
 * A table of a DuckDB file, filled by its appender. Throws USAGE if DuckDB is not installed, TARGET_MISMATCH,
 * DATA_DIR_UNUSABLE.
 */
export async function openDuckDbSink(
  { file, table }: { file: string; table: string },
  options: SinkOptions,
): Promise<Sink> {
  const { columns } = options.schema;
  const duckdb = loadDuckDb();
  const guarded = <T>(step: () => Promise<T>): Promise<T> =>
    step().catch((cause: unknown) => {
      if (cause instanceof PackhouseError) throw cause;
      const [reason = ''] = (cause as Error).message.split('\n');
      // DuckDB repeats the system's words and has no code for it.
      if (reason.includes('No space left on device')) throw noSpace(file, cause);
      throw new PackhouseError({
        code: 'DATA_DIR_UNUSABLE',
        message: `The database ${file} cannot be used: ${reason}.`,
        hint: 'Close what has it open, or give another file; what was committed stays.',
        cause,
      });
    });
  const instance = await guarded(() => duckdb.DuckDBInstance.create(file, { memory_limit: MEMORY }));
  const connection = await guarded(() => instance.connect());
  const query = (sql: string, values: readonly string[] = []): Promise<unknown[][]> =>
    guarded(async () => (await connection.runAndReadAll(sql, values)).getRows());
  const convert = converters(duckdb);
  // One for all: its memory is freed only when the garbage is collected.
  const chunk = duckdb.DuckDBDataChunk.create(columns.map(({ type }) => convert[type].type));
  let appender: Awaited<ReturnType<Connection['createAppender']>> | null = null;
  const sqlTable = {
    key: table,
    name: quoted(table),
    target: `The table ${table} of ${file}`,
    types: TYPES,
    commitRows: 122_880,
    query,
    columns: () =>
      query(
        'SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = $1 ORDER BY column_index',
        [table],
      ),
    append: (coded: CodedBatch) =>
      guarded(async () => {
        const batch = toPlainBatch(coded);
        appender ??= await connection.createAppender(table);
        for (let at = 0; at < batch.rows; at += CHUNK_ROWS) {
          chunk.reset();
          chunk.rowCount = Math.min(CHUNK_ROWS, batch.rows - at);
          for (const [index, { name, type }] of columns.entries()) {
            const values = (batch.columns[name] as Column).slice(at, at + CHUNK_ROWS);
            chunk.setColumnValues(index, convert[type].values(values));
          }
          appender.appendDataChunk(chunk);
        }
      }),
    flush: () =>
      guarded(async () => {
        appender?.closeSync();
        appender = null;
      }),
    async close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
  return openSqlSink(sqlTable, options);
}

/** The types of DuckDB, and how values get theirs. */
function converters(
  duckdb: DuckDb,
): Readonly<Record<ColumnType, { type: unknown; values(values: Column): readonly unknown[] }>> {
  const same = (values: Column): Column => values;
  const each =
    (convert: (value: bigint) => unknown) =>
    (values: Column): unknown[] =>
      values.map((value) => (value === null ? null : convert(BigInt(value))));
  return {
    BIGINT: { type: duckdb.BIGINT, values: each((value) => value) },
    INTEGER: { type: duckdb.INTEGER, values: same },
    UBIGINT: { type: duckdb.UBIGINT, values: each((value) => value) },
    UINTEGER: { type: duckdb.UINTEGER, values: same },
    DOUBLE: { type: duckdb.DOUBLE, values: same },
    'DECIMAL(38,0)': {
      type: duckdb.DECIMAL(38, 0),
      values: each((value) => new duckdb.DuckDBDecimalValue(value, 38, 0)),
    },
    TEXT: { type: duckdb.VARCHAR, values: same },
    JSON: { type: duckdb.VARCHAR, values: same },
    BYTEA: {
      type: duckdb.BLOB,
      values: (values) =>
        values.map((value) => (value === null ? null : new duckdb.DuckDBBlobValue(toBytes(value)))),
    },
    BOOLEAN: { type: duckdb.BOOLEAN, values: same },
    TIMESTAMP: {
      type: duckdb.TIMESTAMP,
      values: each((seconds) => new duckdb.DuckDBTimestampValue(seconds * 1_000_000n)),
    },
  };
}
