import { createRequire } from 'node:module';
import { PackhouseError } from '@packhouse/runtime';
import { withRange } from '../block-set.js';
import { bytesOf, type Column, type ColumnType, createTable, quoted } from '../rows/schema.js';
import { noSpace } from '../whole-file.js';
import { checkState, mismatch, newState, type Sink, type SinkOptions, STATE_TABLE } from './sink.js';

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
  VARCHAR: unknown;
  BLOB: unknown;
  BOOLEAN: unknown;
  TIMESTAMP: unknown;
}
interface Connection {
  run(sql: string, values?: readonly unknown[]): Promise<unknown>;
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
      hint: 'Run npm install @duckdb/node-api@1.5.6-r.1, or pull with --to parquet, which DuckDB reads.',
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
  'DECIMAL(38,0)': 'DECIMAL(38,0)',
  TEXT: 'VARCHAR',
  BYTEA: 'BLOB',
  BOOLEAN: 'BOOLEAN',
  TIMESTAMP: 'TIMESTAMP',
  JSON: 'JSON',
};

/**
 * A table of a DuckDB file, filled by its appender. Rows and what blocks they are of (in the table `packhouse_rows`)
 * are committed in one transaction. Throws USAGE if DuckDB is not installed, TARGET_MISMATCH, DATA_DIR_UNUSABLE.
 */
export async function openDuckDbSink(
  { file, table }: { file: string; table: string },
  { schema, origin }: SinkOptions,
): Promise<Sink> {
  const duckdb = loadDuckDb();
  const guarded = <T>(step: () => Promise<T>): Promise<T> =>
    step().catch((cause: unknown) => {
      if (cause instanceof PackhouseError) throw cause;
      const [said = ''] = (cause as Error).message.split('\n');
      // DuckDB repeats the system's words and has no code for it.
      if (said.includes('No space left on device')) throw noSpace(file, cause);
      throw new PackhouseError({
        code: 'DATA_DIR_UNUSABLE',
        message: `The database ${file} cannot be used: ${said}.`,
        hint: 'Close what has it open, or give another file; what was committed stays.',
        cause,
      });
    });
  const instance = await guarded(() => duckdb.DuckDBInstance.create(file, { memory_limit: MEMORY }));
  const close = async (connection?: Connection): Promise<void> => {
    connection?.closeSync();
    instance.closeSync();
  };
  const connection = await guarded(() => instance.connect());
  const state = await guarded(() => openTable(connection, file, table, { schema, origin })).catch(
    async (error: unknown) => {
      await close(connection);
      throw error;
    },
  );
  const convert = converters(duckdb);
  const types = schema.columns.map(({ type }) => convert[type].type);
  // One for all: its memory is freed only when the garbage is collected.
  const chunk = duckdb.DuckDBDataChunk.create(types);
  let appender: Awaited<ReturnType<Connection['createAppender']>> | null = null;
  let rows = 0;
  return {
    state,
    commitRows: 122_880,
    write: (batch) =>
      guarded(async () => {
        if (appender === null) {
          await connection.run('BEGIN');
          appender = await connection.createAppender(table);
        }
        for (let at = 0; at < batch.rows; at += CHUNK_ROWS) {
          chunk.reset();
          chunk.rowCount = Math.min(CHUNK_ROWS, batch.rows - at);
          for (const [index, { name, type }] of schema.columns.entries()) {
            const values = (batch.columns[name] as Column).slice(at, at + CHUNK_ROWS);
            chunk.setColumnValues(index, convert[type].values(values));
          }
          appender.appendDataChunk(chunk);
        }
        rows += batch.rows;
      }),
    commit: (blocks) =>
      guarded(async () => {
        const next = { ...state, done: withRange(state.done, blocks), rows: state.rows + rows };
        if (appender === null) await connection.run('BEGIN');
        appender?.closeSync();
        appender = null;
        await connection.run(`UPDATE ${STATE_TABLE} SET state = $1 WHERE table_name = $2`, [
          JSON.stringify(next),
          table,
        ]);
        await connection.run('COMMIT');
        rows = 0;
        Object.assign(state, next);
      }),
    // A transaction that is not committed is undone with its connection.
    close: () => close(connection),
  };
}

/** Makes the table, or checks that it is the one that is wanted. */
async function openTable(
  connection: Connection,
  file: string,
  table: string,
  { schema, origin }: Pick<SinkOptions, 'schema' | 'origin'>,
): Promise<ReturnType<typeof newState>> {
  const target = `The table ${table} of ${file}`;
  await connection.run(
    `CREATE TABLE IF NOT EXISTS ${STATE_TABLE} (table_name VARCHAR PRIMARY KEY, state VARCHAR NOT NULL)`,
  );
  const query = async (sql: string): Promise<unknown[][]> =>
    (await connection.runAndReadAll(sql, [table])).getRows();
  const columns = await query(
    'SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = $1 ORDER BY column_index',
  );
  const [found] = await query(`SELECT state FROM ${STATE_TABLE} WHERE table_name = $1`);
  if (columns.length === 0) {
    // A table that was dropped begins again.
    const state = newState(origin);
    await connection.run('BEGIN');
    await connection.run(createTable(quoted(table), schema));
    const values = [table, JSON.stringify(state)];
    await connection.run(`INSERT OR REPLACE INTO ${STATE_TABLE} VALUES ($1, $2)`, values);
    await connection.run('COMMIT');
    return state;
  }
  if (found === undefined) {
    throw mismatch(target, `is not one that packhouse made: ${STATE_TABLE} has no row of it`);
  }
  const state = checkState(target, String(found[0]), origin);
  const has = columns.map((column) => column.join(' ')).join(', ');
  const wanted = schema.columns.map(({ name, type }) => `${name} ${TYPES[type]}`).join(', ');
  if (has !== wanted) throw mismatch(target, `has the columns ${has}, expected ${wanted}`);
  return state;
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
    'DECIMAL(38,0)': {
      type: duckdb.DECIMAL(38, 0),
      values: each((value) => new duckdb.DuckDBDecimalValue(value, 38, 0)),
    },
    TEXT: { type: duckdb.VARCHAR, values: same },
    JSON: { type: duckdb.VARCHAR, values: same },
    BYTEA: {
      type: duckdb.BLOB,
      values: (values) =>
        values.map((value) => (value === null ? null : new duckdb.DuckDBBlobValue(bytesOf(value)))),
    },
    BOOLEAN: { type: duckdb.BOOLEAN, values: same },
    TIMESTAMP: {
      type: duckdb.TIMESTAMP,
      values: each((seconds) => new duckdb.DuckDBTimestampValue(seconds * 1_000_000n)),
    },
  };
}
