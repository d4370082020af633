import { type Context, isPackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { databaseAddress, databaseError } from './database-error.js';

const DEFAULT_POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * How long a connection stays open without work. A new one costs the server and the process some 2 ms of CPU each, and
 * then plans every statement anew: loops that look every few seconds must find theirs again.
 */
const IDLE_MS = 60_000;
/** A connection that hears nothing for this long is probed: that of a machine that vanished ends. */
const KEEP_ALIVE_MS = 30_000;
/** How much longer a statement is waited for than the server works on it. */
const GRACE_MS = 500;
/** How long the end of a connection is waited for: a server that hangs does not take leave. */
const END_WITHIN_MS = 2_000;
/** Ends a transaction whose process hangs, so that it does not hold a segment's lock for ever. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** An SQL statement; it is prepared under its name once per connection, so names must be unique. */
export function statement(name: string, text: string): { name: string; text: string } {
  return { name, text };
}

type Statement = ReturnType<typeof statement>;

/** A pool of connections to Postgres. Every method throws PackhouseErrors only (see databaseError). */
export type Connections = ReturnType<typeof createConnections>;

/** Runs one statement. */
type Query = <R extends object>(statement: Statement, values: readonly unknown[]) => Promise<R[]>;
/** Runs one statement; returns its first row, or null. */
type QueryOne = <R extends object>(statement: Statement, values: readonly unknown[]) => Promise<R | null>;

/** One connection, reserved for the caller. */
export interface Session {
  client: pg.PoolClient;
  query: Query;
  queryOne: QueryOne;
}

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

/**
 * Creates a pool of connections; it connects at the first statement and again after a loss. Without limits, a
 * connection is waited for ten seconds, and a statement as long as the connection lives.
 */
export function createConnections(options: {
  connectionString: string;
  context: Context;
  poolSize?: number | undefined;
  applicationName: string;
  limits?: ConnectionLimits | undefined;
}) {
  const { connectionString, context, limits } = options;
  const config: pg.ClientConfig = {
    connectionString,
    application_name: options.applicationName,
    connectionTimeoutMillis: limits?.connectMs ?? CONNECT_TIMEOUT_MS,
    statement_timeout: limits?.statementMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
  };
  const pool = openPool(config, options.poolSize ?? DEFAULT_POOL_SIZE, context);
  const longest = limits === undefined ? undefined : limits.statementMs + GRACE_MS;
  const mapped = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw databaseError(error, connectionString);
    }
  };

  const session = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
    mapped(async () => {
      const client = await pool.connect();
      let broken = true;
      const query: Query = async <R extends object>({ name, text }: Statement, values: readonly unknown[]) =>
        (await client.query<R>(limited({ name, text, values: [...values] }, longest))).rows;
      try {
        const result = await work({ client, query, queryOne: toQueryOne(query) });
        broken = false;
        return result;
      } catch (error) {
        // PackhouseErrors are thrown between statements; after a failed statement the state of the session (locks,
        // half a COPY) is unknown.
        broken = !isPackhouseError(error);
        throw error;
      } finally {
        client.release(broken);
      }
    });
  /** Runs one statement on any free connection, for `withinMs` at most; the default is the limit of the pool. */
  const query = <R extends object>(
    { name, text }: Statement,
    values: readonly unknown[],
    withinMs = longest,
  ): Promise<R[]> =>
    // After an error the pool does not use the connection again.
    mapped(async () => (await pool.query<R>(limited({ name, text, values: [...values] }, withinMs))).rows);

  return {
    connectionString,
    config,
    query,
    queryOne: toQueryOne(query),
    /** Runs `work` on one connection without a transaction. */
    session,
    /** Runs `work` in one transaction (read committed); rolls back if it throws. */
    transaction: <T>(work: (session: Session) => Promise<T>): Promise<T> =>
      session(async (inner) => {
        await inner.client.query(limited({ text: 'BEGIN' }, longest));
        try {
          const result = await work(inner);
          await inner.client.query(limited({ text: 'COMMIT' }, longest));
          return result;
        } catch (error) {
          if (isPackhouseError(error)) await inner.client.query(limited({ text: 'ROLLBACK' }, longest));
          throw error;
        }
      }),
    /** Closes the connections once their work is done. */
    close: () => mapped(() => ended(pool.end())),
  };
}

function openPool(config: pg.ClientConfig, max: number, context: Context): pg.Pool {
  const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: IDLE_MS });
  const address = databaseAddress(config.connectionString ?? '');
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
  return pool;
}

const toQueryOne =
  (query: Query): QueryOne =>
  async <R extends object>(statement: Statement, values: readonly unknown[]) =>
    (await query<R>(statement, values))[0] ?? null;

/** The query with the driver's own limit: it stops waiting. Not for COPY, whose end the driver does not see. */
export function limited<Q extends pg.QueryConfig>(query: Q, withinMs: number | undefined): Q {
  return withinMs === undefined ? query : { ...query, query_timeout: withinMs };
}

/** Resolves when a connection or a pool has ended, or after two seconds. */
export async function ended(ending: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, END_WITHIN_MS);
  });
  try {
    await Promise.race([ending, late]);
  } finally {
    clearTimeout(timer);
  }
}
