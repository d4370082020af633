import { createDatabase, type Database } from '@packhouse/database';
import { silentContext } from '@packhouse/local';
import pg from 'pg';

/** Opens a test's database as Packhouse does. */
export function openDatabase(connectionString: string): Database {
  return createDatabase({
    connectionString,
    context: silentContext(),
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
