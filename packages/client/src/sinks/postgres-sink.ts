import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { type CopyStreamQuery, from } from 'pg-copy-streams';
import { type ColumnType, quoted, type RowBatch, toBytes } from '../rows/schema.js';
import type { Sink, SinkOptions } from './sink.js';
import { openSqlSink } from './sql-sink.js';
import { isoTime, type Text, toLines } from './text-rows.js';

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

/**
 * A table of Postgres, filled by COPY. Throws DATABASE_UNAVAILABLE, TARGET_MISMATCH, and DATA_DIR_BUSY if another pull
 * writes to it.
 */
export async function openPostgresSink(
  { url, table }: { url: string; table: string },
  options: SinkOptions,
): Promise<Sink> {
  const { schema } = options;
  const name = toSqlName(table);
  const client = new pg.Client({ connectionString: url, application_name: 'packhouse pull' });
  client.on('error', () => undefined);
  const guarded = <T>(step: () => Promise<T>): Promise<T> =>
    step().catch((error: unknown) => {
      throw error instanceof PackhouseError ? error : unavailable(table, error as Error);
    });
  const query = (text: string, values: readonly string[] = []): Promise<unknown[][]> =>
    guarded(
      async () => (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows,
    );

  const copy = `COPY ${name} (${schema.columns.map((column) => quoted(column.name)).join(', ')}) FROM STDIN`;
  // One COPY a commit, so that the server takes rows while the next ones are read.
  let copying: { stream: CopyStreamQuery; ended: Promise<void> } | null = null;
  const begin = (): NonNullable<typeof copying> => {
    const stream = client.query(from(copy));
    const ended = finished(stream);
    // Its failure is seen at the next write or the commit.
    ended.catch(() => undefined);
    return { stream, ended };
  };
  const close = async (): Promise<void> => {
    copying?.stream.destroy();
    await client.end().catch(() => undefined);
  };
  await guarded(() => lockTable(client, table)).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const sqlTable = {
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
    append: (batch: RowBatch) =>
      guarded(async () => {
        copying ??= begin();
        const { stream, ended } = copying;
        if (stream.destroyed) await ended;
        if (stream.write(toLines(schema, batch, COPY_TEXT))) return;
        await Promise.race([once(stream, 'drain'), ended]);
      }),
    flush: () =>
      guarded(async () => {
        copying?.stream.end();
        await copying?.ended;
        copying = null;
      }),
    close,
  };
  return openSqlSink(sqlTable, options);
}

/** Connects, and locks the table until the connection ends. */
async function lockTable(client: pg.Client, table: string): Promise<void> {
  await client.connect();
  const lock = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
    [`packhouse rows ${table}`],
  );
  if (lock.rows[0]?.taken === true) return;
  throw new PackhouseError({
    code: 'DATA_DIR_BUSY',
    message: `Another pull writes to the table ${table}.`,
    hint: 'Wait until that one is done, or name another table.',
  });
}

function toSqlName(table: string): string {
  return table.split('.').map(quoted).join('.');
}

/** Text format of COPY: https://www.postgresql.org/docs/current/sql-copy.html. A text of Postgres has no NUL. */
const escaped: Text = (value) => {
  const text = value as string;
  if (!/[\\\n\r\t\0]/.test(text)) return text;
  return text.replace(/[\\\n\r\t\0]/g, (character) => ESCAPES[character] as string);
};

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\ufffd',
};

const TEXTS: Readonly<Record<ColumnType, Text>> = {
  BIGINT: String,
  INTEGER: String,
  UBIGINT: String,
  UINTEGER: String,
  DOUBLE: String,
  'DECIMAL(38,0)': String,
  BOOLEAN: String,
  TEXT: escaped,
  BYTEA: (value) => `\\\\x${toBytes(value).toString('hex')}`,
  JSON: escaped,
  TIMESTAMP: (seconds) => isoTime(seconds as number),
};

const COPY_TEXT: Parameters<typeof toLines>[2] = {
  before: (_, at) => (at === 0 ? '' : '\t'),
  texts: TEXTS,
  none: '\\N',
  end: '\n',
};

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
