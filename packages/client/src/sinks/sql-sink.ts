import { unionRanges } from '@packhouse/chain';
import { checkState, newState, type Sink, type SinkOptions, type SinkState } from './sink.js';
import { readTableState, type SqlTable, STATE_TABLE } from './sql-table.js';

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
