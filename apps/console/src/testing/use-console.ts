import { createDatabase, type Database } from '@packhouse/database';
import { type FreshDatabase, freshDatabase, runSql, silentContext } from '@packhouse/local';
import type { ObjectStore } from '@packhouse/object-store';
import type { Role } from '@packhouse/operations';
import { getHash, makeSecret } from '@packhouse/operations';
import { openQueuesForBoard } from '@packhouse/queue';
import { type Clock, type Context, systemClock } from '@packhouse/runtime';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, inject } from 'vitest';
import { createConsole } from '../create-console.js';

/** A console on a database of its own for one test file; both exist from its first hook on. */
interface TestConsole {
  readonly app: FastifyInstance;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly context: Context;
  /** A request to it, as one from this machine. */
  ask(options: InjectOptions): Promise<LightMyRequestResponse>;
  /** A token of a new operator with this role, as a header; the name is one of its own unless it is given. */
  token(role: Role, name?: string): Promise<{ authorization: string }>;
}

const HOUR_MS = 3_600_000;
/** Statements name `clock_timestamp` without a schema: those of new connections find this one first. */
const STOP_TIME = `CREATE SCHEMA still;
  DO $$ BEGIN
    EXECUTE format('CREATE FUNCTION still.clock_timestamp() RETURNS timestamptz STABLE RETURN %L::timestamptz', now());
    EXECUTE format('ALTER DATABASE %I SET search_path = still, pg_catalog', current_database());
  END $$`;

/** Makes them before the tests of a file, and removes them after it. */
export function useConsole({
  clock = systemClock,
  objectStore,
  redisUrl,
  stopTime = false,
}: {
  clock?: Clock;
  objectStore?: ObjectStore;
  /** Where the queues are, if not in the database. */
  redisUrl?: () => string;
  /** Whether the time of Postgres stands still. */
  stopTime?: boolean;
} = {}): TestConsole {
  const context: Context = silentContext({ clock });
  let fresh: FreshDatabase;
  let database: Database;
  let app: FastifyInstance;
  let operators = 0;
  beforeAll(async () => {
    fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
    if (stopTime) await runSql(fresh.url, STOP_TIME);
    database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
    const queues = { context, databaseUrl: fresh.url, redisUrl: redisUrl?.() };
    const openJobs = () => openQueuesForBoard(queues);
    app = await createConsole({ context, database, objectStore, openJobs, host: '127.0.0.1' });
  });
  afterAll(async () => {
    await app.close();
    await database.close();
    await fresh.drop();
  });
  return {
    get app() {
      return app;
    },
    get database() {
      return database;
    },
    get databaseUrl() {
      return fresh.url;
    },
    context,
    ask: (options) => app.inject({ ...options, headers: { host: '127.0.0.1:8090', ...options.headers } }),
    token: async (role, name) => {
      operators += 1;
      const account = { name: name ?? `test ${operators}`, role, password: null };
      const operator = await database.operators.add(account);
      const token = makeSecret(await database.operators.seal());
      const secret = { kind: 'token', operatorId: operator?.id ?? 0, keyId: null, role } as const;
      await database.operators.keep({ sha256: getHash(token), ...secret, forMs: HOUR_MS });
      return { authorization: `Bearer ${token}` };
    },
  };
}
