import { randomBytes } from 'node:crypto';
import { migrate, migrationsDigest } from '@packhouse/database';
import pg from 'pg';
// For the augmentation below.
import type {} from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the database `postgres` of the run's Postgres, as superuser. */
    postgresUrl: string;
  }
}

/** A database for one test. */
export interface FreshDatabase {
  url: string;
  /** Ends all connections and removes it. */
  drop(): Promise<void>;
}

/**
 * Makes a database: empty, or migrated as a copy of a template that is migrated once a server. `adminUrl` belongs to a
 * role that may create databases. Its clock stands still at `now`, if that is given. Safe to call from several processes
 * at once.
 */
export async function freshDatabase(
  adminUrl: string,
  options: { migrated?: boolean; now?: Date | undefined } = {},
): Promise<FreshDatabase> {
  const name = `packhouse_test_${randomBytes(6).toString('hex')}`;
  await connected(adminUrl, async (admin) => {
    const template = options.migrated === true ? await migratedTemplate(admin, adminUrl) : 'template0';
    // Copying files takes half the time of writing every page to the log first, which is the default, and half the disk.
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  });
  const url = withDatabase(adminUrl, name);
  if (options.now !== undefined) await stopClock(url, name, options.now);
  return {
    url,
    drop: async () => {
      await runSql(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Statements find these functions before those of Postgres; defaults of columns do not. */
async function stopClock(url: string, name: string, now: Date): Promise<void> {
  await connected(url, async (client) => {
    await client.query('CREATE SCHEMA IF NOT EXISTS clock');
    for (const read of ['now', 'clock_timestamp']) {
      await client.query(
        `CREATE OR REPLACE FUNCTION clock.${read}() RETURNS timestamptz STABLE RETURN timestamptz '${now.toISOString()}'`,
      );
    }
    await client.query(`ALTER DATABASE ${name} SET search_path = clock, pg_catalog, public`);
  });
}

/** Runs one statement on a separate connection, as an operator might without the processes knowing. */
export async function runSql<R extends object>(url: string, text: string): Promise<R[]> {
  return connected(url, async (client) => (await client.query<R>(text)).rows);
}

/** The name of the template tells which migrations it has, so a server that is kept never serves an old one. */
async function migratedTemplate(admin: pg.Client, adminUrl: string): Promise<string> {
  const name = `packhouse_template_${(await migrationsDigest()).slice(0, 12)}`;
  await admin.query("SELECT pg_advisory_lock(hashtextextended('packhouse:template', 0))");
  try {
    const found = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) {
      // It gets its name when it is complete.
      const unfinished = `${name}_new`;
      await admin.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${unfinished} TEMPLATE template0`);
      await migrate({ connectionString: withDatabase(adminUrl, unfinished) });
      await admin.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
    }
  } finally {
    await admin.query("SELECT pg_advisory_unlock(hashtextextended('packhouse:template', 0))");
  }
  return name;
}

export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function withDatabase(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
