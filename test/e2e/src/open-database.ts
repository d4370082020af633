import { createDatabase, type Database } from '@packhouse/database';
import { createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import pg from 'pg';

/** Opens a test's database as Packhouse does. */
export function openDatabase(connectionString: string): Database {
  return createDatabase({
    connectionString,
    context: {
      logger: createLogger({ name: 'test', level: 'silent' }),
      metrics: createMetrics(),
      clock: systemClock,
      signal: new AbortController().signal,
    },
    applicationName: 'test',
  });
}

/** Runs one statement on a separate connection. */
export async function sql<Row>(
  connectionString: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString, application_name: 'test' });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
