import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { type CopyStreamQuery, from } from 'pg-copy-streams';
import { withRange } from '../block-set.js';
import type { Column, ColumnType, RowBatch } from '../rows/schema.js';
import { bytesOf, createTable, quoted } from '../rows/schema.js';
import { checkState, mismatch, newState, type Sink, type SinkOptions, STATE_TABLE } from './sink.js';
import { isoTime } from './text-rows.js';

/** The names that Postgres has for the types of columns. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  BIGINT: 'bigint',
  INTEGER: 'integer',
  'DECIMAL(38,0)': 'numeric(38,0)',
  TEXT: 'text',
  BYTEA: 'bytea',
  BOOLEAN: 'boolean',
  TIMESTAMP: 'timestamp without time zone',
  JSON: 'json',
};

/**
 * A table of Postgres, filled by COPY. Rows and what blocks they are of (in the table `packhouse_rows`) are committed
 * in one transaction. Throws DATABASE_UNAVAILABLE, TARGET_MISMATCH, and DATA_DIR_BUSY if another pull writes to it.
 */
export async function openPostgresSink(
  { url, table }: { url: string; table: string },
  { schema, origin }: SinkOptions,
): Promise<Sink> {
  const target = `The table ${table}`;
  const client = new pg.Client({ connectionString: url, application_name: 'packhouse pull' });
  client.on('error', () => undefined);
  const guarded = <T>(step: () => Promise<T>): Promise<T> =>
    step().catch((error: unknown) => {
      throw error instanceof PackhouseError ? error : unavailable(table, error as Error);
    });
  const name = table.split('.').map(quoted).join('.');
  const open = async (): Promise<Sink['state']> => {
    await client.connect();
    const lock = await client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
      [`packhouse rows ${table}`],
    );
    if (lock.rows[0]?.taken !== true) {
      throw new PackhouseError({
        code: 'DATA_DIR_BUSY',
        message: `Another pull writes to the table ${table}.`,
        hint: 'Wait until that one is done, or name another table.',
      });
    }
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${STATE_TABLE} (table_name text PRIMARY KEY, state text NOT NULL)`,
    );
    const columns = await client.query<{ name: string; type: string }>(
      `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [name],
    );
    const found = await client.query<{ state: string }>(
      `SELECT state FROM ${STATE_TABLE} WHERE table_name = $1`,
      [table],
    );
    const text = found.rows[0]?.state;
    if (columns.rows.length === 0) {
      // A table that was dropped begins again.
      const state = newState(origin);
      await client.query('BEGIN');
      await client.query(createTable(name, schema));
      await client.query(
        `INSERT INTO ${STATE_TABLE} VALUES ($1, $2) ON CONFLICT (table_name) DO UPDATE SET state = $2`,
        [table, JSON.stringify(state)],
      );
      await client.query('COMMIT');
      return state;
    }
    if (text === undefined)
      throw mismatch(target, `is not one that packhouse made: ${STATE_TABLE} has no row of it`);
    const state = checkState(target, text, origin);
    const has = columns.rows.map((column) => `${column.name} ${column.type}`).join(', ');
    const wanted = schema.columns.map((column) => `${column.name} ${TYPES[column.type]}`).join(', ');
    if (has !== wanted) throw mismatch(target, `has the columns ${has}, expected ${wanted}`);
    return state;
  };
  const state = await guarded(open).catch(async (error: unknown) => {
    await client.end().catch(() => undefined);
    throw error;
  });

  const copy = `COPY ${name} (${schema.columns.map((column) => quoted(column.name)).join(', ')}) FROM STDIN`;
  // One COPY a commit, so that the server takes rows while the next ones are read.
  let copying: { stream: CopyStreamQuery; ended: Promise<void> } | null = null;
  let rows = 0;
  const begin = async (): Promise<NonNullable<typeof copying>> => {
    await client.query('BEGIN');
    const stream = client.query(from(copy));
    const ended = finished(stream);
    // Its failure is seen at the next write or the commit.
    ended.catch(() => undefined);
    return { stream, ended };
  };
  return {
    state,
    commitRows: 200_000,
    write: (batch) =>
      guarded(async () => {
        copying ??= await begin();
        const { stream, ended } = copying;
        rows += batch.rows;
        if (stream.destroyed) await ended;
        if (!stream.write(copyText(schema.columns, batch)))
          await Promise.race([once(stream, 'drain'), ended]);
      }),
    commit: (blocks) =>
      guarded(async () => {
        const next = { ...state, done: withRange(state.done, blocks), rows: state.rows + rows };
        copying?.stream.end();
        if (copying === null) await client.query('BEGIN');
        await copying?.ended;
        copying = null;
        const update = `UPDATE ${STATE_TABLE} SET state = $2 WHERE table_name = $1`;
        await client.query(update, [table, JSON.stringify(next)]);
        await client.query('COMMIT');
        rows = 0;
        Object.assign(state, next);
      }),
    // The server undoes what is not committed.
    async close() {
      copying?.stream.destroy();
      await client.end().catch(() => undefined);
    },
  };
}

type Text = (value: NonNullable<Column[number]>) => string;

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
  'DECIMAL(38,0)': String,
  BOOLEAN: String,
  TEXT: escaped,
  BYTEA: (value) => `\\\\x${bytesOf(value).toString('hex')}`,
  JSON: escaped,
  TIMESTAMP: (seconds) => isoTime(seconds as number),
};

function copyText(columns: SinkOptions['schema']['columns'], batch: RowBatch): string {
  const parts = columns.map(({ name, type }) => ({
    column: batch.columns[name] as Column,
    text: TEXTS[type],
  }));
  let lines = '';
  for (let row = 0; row < batch.rows; row += 1) {
    let tab = '';
    for (const { column, text } of parts) {
      const value = column[row] as Column[number];
      lines += tab + (value === null ? '\\N' : text(value));
      tab = '\t';
    }
    lines += '\n';
  }
  return lines;
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
