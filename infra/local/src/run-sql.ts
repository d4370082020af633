import pg from 'pg';

/** Runs one statement on a connection of its own: for tests that do behind a process's back what an operator might. */
export async function runSql(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
