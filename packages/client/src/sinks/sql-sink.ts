import { unionRanges } from '@packhouse/chain';
import { toPlainBatch } from '../rows/coded-column.js';
import { type ColumnType, createTable, type RowBatch } from '../rows/schema.js';
import { checkState, mismatch, newState, type Sink, type SinkOptions, type SinkState } from './sink.js';

/** The table of a database that has the states of the others. */
const STATE_TABLE = 'packhouse_rows';

/** A table of a database; each method throws the error of its database. */
interface SqlTable {
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
  append(batch: RowBatch): Promise<void>;
  /** Called before a commit: afterwards all rows are in the transaction. */
  flush(): Promise<void>;
  close(): Promise<void>;
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
      await table.append(toPlainBatch(batch));
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
  const { key, target, types } = table;
  await table.query(
    `CREATE TABLE IF NOT EXISTS ${STATE_TABLE} (table_name text PRIMARY KEY, state text NOT NULL)`,
  );
  const columns = await table.columns();
  if (columns.length === 0) {
    // A table that was dropped begins again.
    const state = newState(origin);
    await table.query('BEGIN');
    await table.query(createTable(table.name, schema, types));
    await table.query(
      `INSERT INTO ${STATE_TABLE} VALUES ($1, $2) ON CONFLICT (table_name) DO UPDATE SET state = $2`,
      [key, JSON.stringify(state)],
    );
    await table.query('COMMIT');
    return state;
  }
  const [found] = await table.query(`SELECT state FROM ${STATE_TABLE} WHERE table_name = $1`, [key]);
  if (found === undefined) {
    throw mismatch(target, `is not one that packhouse made: ${STATE_TABLE} has no row of it`);
  }
  const state = checkState(target, String(found[0]), origin);
  const has = columns.map((column) => column.join(' ')).join(', ');
  const expected = schema.columns.map(({ name, type }) => `${name} ${types[type]}`).join(', ');
  if (has !== expected) throw mismatch(target, `has the columns ${has}, expected ${expected}`);
  return state;
}
