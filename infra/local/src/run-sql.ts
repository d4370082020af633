import pg from 'pg';

/** Runs one statement on a connection of its own: for tests that do behind a process's back what an operator might. */
export async function runSql<R extends object>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}
