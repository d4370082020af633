import { type Context, POSTGRES_KEEP_ALIVE, POSTGRES_SESSION } from '@packhouse/runtime';
import pg from 'pg';
import { databaseAddress } from './database-error.js';
import { createSilenceWatch, destroy } from './end-silent.js';

const DEFAULT_POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * How long a connection stays open without work. A new one costs the server and the process some 2 ms of CPU each, and
 * then plans every statement anew: loops that look every few seconds must find theirs again.
 */
const IDLE_MS = 60_000;

/** SQL of a text that another server does not have, nor the same one once it was restarted, nor a restored database. */
const IDENTITY = `(SELECT extract(epoch FROM pg_postmaster_start_time())::text || '/' || oid::text
  FROM pg_database WHERE datname = current_database())`;

const types: pg.CustomTypesConfig = {
  // Block numbers, sizes and counts stay below 2^53; the driver's default for int8 is text.
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
};

/** Limits of a pool, for processes whose clients must not wait for a server that hangs. */
export interface ConnectionLimits {
  /** For a free connection, and for making one, in milliseconds each. */
  connectMs: number;
  /** For one statement, in milliseconds: the server ends it, or where it hangs, the connection is given up. */
  statementMs: number;
}

/** Makes connections that all have the same settings: the pool, and single ones beside it. */
export function createConnector(options: {
  connectionString: string;
  applicationName: string;
  limits: ConnectionLimits | undefined;
  /** For tests. */
  silence?: { silentMs: number; everyMs: number } | undefined;
}) {
  const { connectionString, limits } = options;
  const connectMs = limits?.connectMs ?? CONNECT_TIMEOUT_MS;
  const config: pg.ClientConfig = {
    connectionString,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectMs,
    ...POSTGRES_KEEP_ALIVE,
    types,
  };
  const limit = limits === undefined ? '' : `SET statement_timeout = ${limits.statementMs}; `;
  const text = `${POSTGRES_SESSION}; ${limit}SELECT pg_backend_pid() AS pid, ${IDENTITY} AS identity`;
  const seen = { identity: '', incarnation: 0 };
  /**
   * Returns its process in Postgres; PgBouncer tells another. The settings are no parameters of the connection's start:
   * PgBouncer refuses those that it does not track.
   */
  const prepare = async (client: pg.ClientBase): Promise<number> => {
    const results: unknown = await client.query(limited({ text }, connectMs));
    const [row] = (results as pg.QueryResult<{ pid: number; identity: string }>[]).at(-1)?.rows ?? [];
    const { pid = 0, identity = '' } = row ?? {};
    if (identity !== seen.identity) {
      if (seen.identity !== '') seen.incarnation += 1;
      seen.identity = identity;
    }
    return pid;
  };
  /** Makes one connection; the caller ends it. */
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(config);
    client.on('error', () => {});
    try {
      await client.connect();
      await prepare(client);
    } catch (error) {
      destroy(client, 'the connection cannot be used');
      throw error;
    }
    return client;
  };

  return {
    pool: (context: Context, max = DEFAULT_POOL_SIZE): pg.Pool => {
      const watch = createSilenceWatch({ clock: context.clock, connect, ...options.silence });
      const onConnect = async (client: pg.ClientBase): Promise<void> => {
        watch.add(client, await prepare(client));
      };
      const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: IDLE_MS, onConnect });
      watchPool(pool, databaseAddress(connectionString), context);
      return pool;
    },
    client: connect,
    /** How often a connection reached another database than the one before it. */
    incarnation: () => seen.incarnation,
  };
}

function watchPool(pool: pg.Pool, address: string, context: Context): void {
  // Without listeners a broken connection would end the process. The caller gets the error anyway.
  pool.on('error', (error) => {
    context.logger.warn({ reason: error.message, address }, 'an idle database connection was lost');
  });
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  context.metrics.gauge(
    'packhouse_database_connections',
    'Connections to Postgres by what they do; waiting are those who would like one',
    ['state'],
    (gauge) => {
      gauge.set({ state: 'used' }, pool.totalCount - pool.idleCount);
      gauge.set({ state: 'idle' }, pool.idleCount);
      gauge.set({ state: 'waiting' }, pool.waitingCount);
    },
  );
}

/** The query with the driver's own limit: it stops waiting. Not for COPY, whose end the driver does not see. */
export function limited<Q extends pg.QueryConfig>(query: Q, withinMs: number | undefined): Q {
  return withinMs === undefined ? query : { ...query, query_timeout: withinMs };
}
