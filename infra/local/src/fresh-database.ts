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

/** What a migrated database has besides: made once a server, and copied from then on. */
interface Addition {
  /** Of the template, after that of the migrations; lower case. */
  name: string;
  add(url: string): Promise<void>;
}

interface FreshDatabaseOptions {
  migrated?: boolean;
  /** Implies `migrated`. */
  addition?: Addition | undefined;
  /** Its clock stands still at this moment. */
  now?: Date | undefined;
}

/**
 * Makes a database: empty, or migrated as a copy of a template that is migrated once a server. `adminUrl` belongs to a
 * role that may create databases. Safe to call from several processes at once.
 */
export async function freshDatabase(
  adminUrl: string,
  options: FreshDatabaseOptions = {},
): Promise<FreshDatabase> {
  const name = `packhouse_test_${randomBytes(6).toString('hex')}`;
  await connected(adminUrl, async (admin) => {
    const template = await findTemplate(admin, adminUrl, options);
    // Copying files takes half the time of writing every page to the log first, and half the disk. Postgres 14 knows
    // nothing else; later ones have it by name.
    const { rows } = await admin.query<{ named: boolean }>(
      "SELECT current_setting('server_version_num')::int4 >= 150000 AS named",
    );
    const strategy = rows[0]?.named === true ? ' STRATEGY file_copy' : '';
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}${strategy}`);
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
export async function runSql<R extends object>(url: string, text: string, values?: unknown[]): Promise<R[]> {
  return connected(url, async (client) => (await client.query<R>(text, values)).rows);
}

/** The name of a template tells which migrations it has, so a server that is kept never serves an old one. */
async function findTemplate(
  admin: pg.Client,
  adminUrl: string,
  { migrated, addition }: FreshDatabaseOptions,
): Promise<string> {
  if (migrated !== true && addition === undefined) return 'template0';
  const name = `packhouse_template_${(await migrationsDigest()).slice(0, 12)}`;
  await admin.query("SELECT pg_advisory_lock(hashtextextended('packhouse:template', 0))");
  try {
    await makeTemplate(admin, adminUrl, {
      name,
      from: 'template0',
      fill: async (url) => void (await migrate({ connectionString: url })),
    });
    if (addition === undefined) return name;
    const added = `${name}_${addition.name}`;
    await makeTemplate(admin, adminUrl, { name: added, from: name, fill: addition.add });
    return added;
  } finally {
    await admin.query("SELECT pg_advisory_unlock(hashtextextended('packhouse:template', 0))");
  }
}

async function makeTemplate(
  admin: pg.Client,
  adminUrl: string,
  { name, from, fill }: { name: string; from: string; fill: (url: string) => Promise<void> },
): Promise<void> {
  const found = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (found.rowCount !== 0) return;
  // It gets its name when it is complete.
  const unfinished = `${name}_new`;
  await admin.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${unfinished} TEMPLATE ${from}`);
  await fill(withDatabase(adminUrl, unfinished));
  await admin.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
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
