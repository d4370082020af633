import pg from 'pg';
import { createGuard, freeLocks, openPostgresTable } from './postgres-table.js';
import type { Sink, SinkOptions } from './sink.js';
import { openSqlSink } from './sql-sink.js';

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
