import { isPackhouseError } from '@packhouse/runtime';
import { to } from 'pg-copy-streams';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnections } from '../connection/connections.js';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';
import { decodeCopy } from './decode-copy.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('fails and does not hang when the server goes away in the middle of the rows', async () => {
  const connections = createConnections({
    connectionString: open.url,
    context: silentContext(),
    applicationName: 'reader',
  });
  let rows = 0;
  const reading = connections.session(async ({ client }) => {
    const text = `COPY (SELECT repeat('x', 100000)::bytea FROM generate_series(1, 5000)) TO STDOUT (FORMAT binary)`;
    for await (const [value] of decodeCopy(client.query(to(text)))) {
      expect(value).toHaveLength(100_000);
      rows += 1;
      if (rows === 3) {
        await open.sql(
          "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'reader' AND datname = current_database()",
        );
      }
    }
  });
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isPackhouseError(error, 'DATABASE_UNAVAILABLE')).toBe(true);
  expect(rows).toBeLessThan(5_000);
  // Its connection is thrown away; the next one is whole.
  await connections.session(async ({ client }) => {
    expect((await client.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
  await connections.close();
});
