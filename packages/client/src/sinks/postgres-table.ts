import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { CodedBatch } from '@packhouse/rows';
import { type ColumnType, quoted, type Schema } from '@packhouse/rows';
import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { type CopyStreamQuery, from } from 'pg-copy-streams';
import { COPY_HEADER, COPY_TRAILER, CopyEncoder } from './copy-binary.js';
import { mismatch, type Sink, type SinkOptions } from './sink.js';
import { openSqlSink, type SqlTable } from './sql-table.js';

/** The names that Postgres has for the types of columns. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  BIGINT: 'bigint',
  INTEGER: 'integer',
  UBIGINT: 'numeric(20,0)',
  UINTEGER: 'bigint',
  DOUBLE: 'double precision',
  'DECIMAL(38,0)': 'numeric(38,0)',
  TEXT: 'text',
  BYTEA: 'bytea',
  BOOLEAN: 'boolean',
  TIMESTAMP: 'timestamp without time zone',
  JSON: 'json',
};

/** A table of Postgres, for one connection; `close` leaves that open. */
export interface PostgresTable extends SqlTable {
  append(batch: CodedBatch): Promise<void>;
}

/**
 * A table of Postgres. Throws DATABASE_UNAVAILABLE, TARGET_MISMATCH, and DATA_DIR_BUSY if another pull or follower
 * writes to it.
 */
export async function openPostgresSink(
  { url, table }: { url: string; table: string },
  options: SinkOptions,
): Promise<Sink> {
  const client = new pg.Client({ connectionString: url, application_name: 'packhouse pull' });
  client.on('error', () => undefined);
  const end = (): Promise<void> => client.end().catch(() => undefined);
  const connected = createGuard(table)(() => client.connect());
  try {
    await connected;
    const opened = await openPostgresTable(client, table, options.schema);
    const close = async (): Promise<void> => {
      await opened.close();
      await end();
    };
    return await openSqlSink({ ...opened, close }, options);
  } catch (error) {
    await connected.then(() => freeLocks(client)).catch(() => undefined);
    await end();
    throw error;
  }
}

/**
 * The table `name` or `schema.name` of a connection, filled by binary COPY and locked until the connection ends. Throws
 * DATABASE_UNAVAILABLE, TARGET_MISMATCH, DISK_FULL, and DATA_DIR_BUSY if another pull or follower writes to it.
 */
export async function openPostgresTable(
  client: pg.ClientBase,
  table: string,
  schema: Schema,
): Promise<PostgresTable> {
  const name = table.split('.').map(quoted).join('.');
  const guarded = createGuard(table);
  const query = (text: string, values: readonly unknown[] = []): Promise<unknown[][]> =>
    guarded(
      async () => (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows,
    );
  await lockTable(query, table);

  const columns = schema.columns.map((column) => quoted(column.name)).join(', ');
  const encoder = new CopyEncoder(schema);
  // One COPY a commit, so that the server takes rows while the next ones are read.
  let copying: { stream: CopyStreamQuery; ended: Promise<void> } | null = null;
  const begin = (): NonNullable<typeof copying> => {
    const stream = client.query(from(`COPY ${name} (${columns}) FROM STDIN WITH (FORMAT binary)`));
    const ended = finished(stream);
    // Its failure is seen at the next write or the commit.
    ended.catch(() => undefined);
    stream.write(COPY_HEADER);
    return { stream, ended };
  };
  return {
    key: table,
    name,
    target: `The table ${table}`,
    types: TYPES,
    commitRows: 200_000,
    query,
    columns: () =>
      query(
        `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
         WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
        [name],
      ),
    append: (batch) =>
      guarded(async () => {
        copying ??= begin();
        const { stream, ended } = copying;
        for (const piece of encoder.encode(batch)) {
          if (stream.destroyed) await ended;
          if (!stream.write(piece)) await Promise.race([once(stream, 'drain'), ended]);
        }
      }),
    flush: () =>
      guarded(async () => {
        copying?.stream.end(COPY_TRAILER);
        await copying?.ended;
        copying = null;
      }),
    async close() {
      if (copying === null) await freeLocks(client);
      else copying.stream.destroy();
    },
  };
}

/**
 * Frees the locks of a connection on which nothing is under way. The server frees them by itself some time after the
 * connection has ended, and the next run may begin before that.
 */
export async function freeLocks(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
}

/** Locks a table, however it is named, until the connection ends. */
async function lockTable(
  query: (text: string, values: readonly string[]) => Promise<unknown[][]>,
  table: string,
): Promise<void> {
  const at = table.indexOf('.');
  const [row] = await query(
    `SELECT pg_try_advisory_lock(hashtextextended('packhouse rows ' || ${at === -1 ? 'current_schema()' : '$2'} || '.' || $1, 0))`,
    at === -1 ? [table] : [table.slice(at + 1), table.slice(0, at)],
  );
  if (row?.[0] === true) return;
  throw new PackhouseError({
    code: 'DATA_DIR_BUSY',
    message: `Another pull or follower writes to the table ${table}.`,
    hint: 'Wait until that one is done, or name another table.',
  });
}

/** Errors of a table that is not any more as it was made, or has rows of others. */
const CHANGED: ReadonlySet<string> = new Set([
  '22P03', // invalid_binary_representation
  '22P04', // bad_copy_file_format
  '23502', // not_null_violation
  '23505', // unique_violation
  '23514', // check_violation
  '42703', // undefined_column
  '42804', // datatype_mismatch
  '42P01', // undefined_table
]);

/** Runs steps on a table, and names what fails. */
export function createGuard(table: string): <T>(step: () => Promise<T>) => Promise<T> {
  return async (step) => {
    try {
      return await step();
    } catch (error) {
      if (error instanceof PackhouseError) throw error;
      const { code, message } = error as { code?: string; message: string };
      if (CHANGED.has(code ?? '')) {
        throw mismatch(`The table ${table}`, `was changed or dropped by somebody else: ${message}`, error);
      }
      throw unavailable(table, error as Error);
    }
  };
}

function unavailable(table: string, cause: Error): PackhouseError {
  const { code } = cause as { code?: string };
  const full = code === '53100';
  return new PackhouseError({
    code: full ? 'DISK_FULL' : 'DATABASE_UNAVAILABLE',
    message: `Postgres cannot be used for the table ${table}: ${cause.message || code}.`,
    hint: 'Check the address, the password (PGPASSWORD) and its rights; what was committed stays.',
    cause,
  });
}
