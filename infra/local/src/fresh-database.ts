import { randomBytes } from 'node:crypto';
import { migrate, migrationsDigest } from '@packhouse/database';
import pg from 'pg';
// Makes the module known to the augmentation below.
import type {} from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's address of the database `postgres` of the run's Postgres. */
    postgresUrl: string;
  }
}

/** A database of a test's own. */
export interface FreshDatabase {
  url: string;
  /** Ends whatever is still connected and removes it. */
  drop(): Promise<void>;
}

/**
 * Makes an empty database, or a migrated one as a copy of a template that is migrated once a server.
 *
 * Safe to call from several processes at once. `adminUrl` belongs to a role that may create databases.
 */
export async function freshDatabase(
  adminUrl: string,
  options: { migrated?: boolean } = {},
): Promise<FreshDatabase> {
  const name = `packhouse_test_${randomBytes(6).toString('hex')}`;
  await asAdmin(adminUrl, async (admin) => {
    const template = options.migrated === true ? await migratedTemplate(admin, adminUrl) : 'template0';
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  return {
    url: withDatabase(adminUrl, name),
    drop: () =>
      asAdmin(adminUrl, async (admin) => {
        await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

/** The template's name tells the migrations in it, so that a server that is kept never serves an old one. */
async function migratedTemplate(admin: pg.Client, adminUrl: string): Promise<string> {
  const name = `packhouse_template_${(await migrationsDigest()).slice(0, 12)}`;
  await admin.query("SELECT pg_advisory_lock(hashtextextended('packhouse:template', 0))");
  try {
    const found = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) {
      // It gets its name when it is whole.
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

async function asAdmin<T>(adminUrl: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  admin.on('error', () => {});
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function withDatabase(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
