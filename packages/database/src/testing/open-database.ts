import { freshDatabase } from '@packhouse/local';
import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase, type Database, type NetworkDatabase } from '../create-database.js';
import type { Sealing } from '../publish/publish.js';

/** A context that logs nothing. */
export function silentContext(): Context {
  return {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
  };
}

/** A migrated database for one test, with direct SQL access. */
export interface OpenDatabase {
  database: Database;
  /** Its network `main`. */
  main: NetworkDatabase;
  url: string;
  /** Runs one statement on a separate connection. */
  sql<R extends object>(text: string, values?: unknown[]): Promise<R[]>;
  /** A second handle, as another process would have; `url`: of another way to the same database. */
  another(url?: string): Database;
  close(): Promise<void>;
}

/** Creates a database; the network `main` is registered. */
export async function openDatabase(poolSize = 10): Promise<OpenDatabase> {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const opened: Database[] = [];
  const another = (url = fresh.url): Database => {
    const database = createDatabase({
      connectionString: url,
      context: silentContext(),
      poolSize,
      applicationName: 'packhouse test',
    });
    opened.push(database);
    return database;
  };
  const behind = new pg.Pool({ connectionString: fresh.url, max: 2 });
  behind.on('error', () => {});
  const database = another();
  await database.networks.register({ id: 'main', chainId: 1 });
  return {
    database,
    main: database.network('main'),
    url: fresh.url,
    another,
    sql: async <R extends object>(text: string, values: unknown[] = []) =>
      (await behind.query<R>(text, values)).rows,
    close: async () => {
      await Promise.all(opened.map((one) => one.close()));
      await behind.end();
      await fresh.drop();
    },
  };
}

/** What publishing of tests is signed with. */
export const SIGNER = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/test');
export const SEALING: Sealing = { signer: SIGNER, clients: [] };

/** Creates a database that knows the key of `SIGNER`. */
export async function openSignedDatabase(): Promise<OpenDatabase> {
  const open = await openDatabase();
  await open.database.manifest.registerKey(SIGNER.publicKey);
  return open;
}

/** Takes away all that is staged and published. */
export async function emptyTables({ sql }: OpenDatabase): Promise<void> {
  await sql(
    'TRUNCATE packhouse.staged_block, packhouse.fragment, packhouse.bundle, packhouse.abandoned_block',
  );
}
