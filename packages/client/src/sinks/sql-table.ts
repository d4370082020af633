import { unionRanges } from '@packhouse/chain';
import type { CodedBatch } from '@packhouse/rows';
import { type ColumnType, createTable, type Schema } from '@packhouse/rows';
import { checkState, mismatch, newState, type Sink, type SinkOptions, type SinkState } from './sink.js';

/** The table of a database that has the states of the others. */
export const STATE_TABLE = 'packhouse_rows';

/** A table of a database; each method throws the error of its database. */
export interface SqlTable {
  /** Its key in `packhouse_rows`. */
  key: string;
  /** Its name in SQL. */
  name: string;
  /** What messages call it. */
  target: string;
  /** The names that the database has for the types of columns. */
  types: Readonly<Record<ColumnType, string>>;
  commitRows: number;
  query(sql: string, values?: readonly string[]): Promise<unknown[][]>;
  /** Names and types of its columns; none: there is no such table. */
  columns(): Promise<unknown[][]>;
  /** Adds rows to the transaction that is open. */
  append(batch: CodedBatch): Promise<void>;
  /** Called before a commit: afterwards all rows are in the transaction. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Returns the state of a table as `packhouse_rows` has it; makes the table, with the state `fresh`, if there is none: one
 * that was dropped begins again. `check` reads the state, and says whose rows they are before the columns are compared.
 * Throws TARGET_MISMATCH if packhouse did not make it, or as another one.
 */
export async function readTableState<State>(
  table: SqlTable,
  schema: Schema,
  fresh: string,
  check: (text: string) => State,
): Promise<{ text: string; state: State }> {
  const { key, target, types } = table;
  await table.query(
    `CREATE TABLE IF NOT EXISTS ${STATE_TABLE} (table_name text PRIMARY KEY, state text NOT NULL)`,
  );
  const columns = await table.columns();
  if (columns.length === 0) {
    await table.query('BEGIN');
    await table.query(createTable(table.name, schema, types));
    await table.query(
      `INSERT INTO ${STATE_TABLE} VALUES ($1, $2) ON CONFLICT (table_name) DO UPDATE SET state = $2`,
      [key, fresh],
    );
    await table.query('COMMIT');
    return { text: fresh, state: check(fresh) };
  }
  const [found] = await table.query(`SELECT state FROM ${STATE_TABLE} WHERE table_name = $1`, [key]);
  if (found === undefined) {
    throw mismatch(target, `is not one that packhouse made: ${STATE_TABLE} has no row of it`);
  }
  const text = String(found[0]);
  const state = check(text);
  const has = columns.map((column) => column.join(' ')).join(', ');
  const expected = schema.columns.map(({ name, type }) => `${name} ${types[type]}`).join(', ');
  if (has !== expected) throw mismatch(target, `has the columns ${has}, expected ${expected}`);
  return { text, state };
}

/**
 * Fills a table, which is created if there is none. Rows and what blocks they are of (in the table `packhouse_rows`)
 * are committed in one transaction. Throws TARGET_MISMATCH.
 */
export async function openSqlSink(table: SqlTable, options: SinkOptions): Promise<Sink> {
  const state = await openState(table, options).catch(async (error: unknown) => {
    await table.close();
    throw error;
  });
  let begun = false;
  let rows = 0;
  const begin = async (): Promise<void> => {
    if (!begun) await table.query('BEGIN');
    begun = true;
  };
  return {
    state,
    commitRows: table.commitRows,
    async write(batch) {
      await begin();
      rows += batch.rows;
      await table.append(batch);
    },
    async commit(blocks) {
      const next = { ...state, done: unionRanges([...state.done, blocks]), rows: state.rows + rows };
      await begin();
      await table.flush();
      const update = `UPDATE ${STATE_TABLE} SET state = $2 WHERE table_name = $1`;
      await table.query(update, [table.key, JSON.stringify(next)]);
      await table.query('COMMIT');
      begun = false;
      rows = 0;
      Object.assign(state, next);
    },
    // The database undoes what is not committed.
    close: () => table.close(),
  };
}

async function openState(table: SqlTable, { schema, origin }: SinkOptions): Promise<SinkState> {
  const fresh = JSON.stringify(newState(origin));
  const check = (text: string): SinkState => checkState(table.target, text, origin);
  return (await readTableState(table, schema, fresh, check)).state;
}
