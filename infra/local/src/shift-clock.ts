import { connected, runSql, withDatabase } from './fresh-database.js';

/** The server's setting: SQL finds the functions of this schema before those of Postgres. */
export const SHIFTED_PATH = 'clock, pg_catalog, "$user", public';

/**
 * Lets the SQL of all databases that a server will have see the time of processes under libfaketime: off by the seconds
 * in `file`, which is read at each call. The server itself keeps the machine's clock: its timeouts never end under
 * libfaketime, which gives another time to signal handlers.
 */
export async function shiftClock(url: string, file: string): Promise<void> {
  for (const name of ['postgres', 'template1', 'template0']) {
    await runSql(url, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await connected(withDatabase(url, name), (client) =>
      client.query(`
        CREATE SCHEMA clock;
        GRANT USAGE ON SCHEMA clock TO PUBLIC;
        CREATE FUNCTION clock.shift() RETURNS interval SECURITY DEFINER LANGUAGE sql
          AS $$ SELECT make_interval(secs => pg_read_file('${file}')::float8) $$;
        CREATE FUNCTION clock.now() RETURNS timestamptz STABLE LANGUAGE sql
          AS $$ SELECT pg_catalog.now() + clock.shift() $$;
        CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql
          AS $$ SELECT pg_catalog.clock_timestamp() + clock.shift() $$;`),
    );
  }
  await runSql(url, 'ALTER DATABASE template0 ALLOW_CONNECTIONS false');
}
