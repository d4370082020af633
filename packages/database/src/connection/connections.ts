import { type Context, isPackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { databaseAddress, databaseError } from './database-error.js';

const DEFAULT_POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 10_000;
/** Ends a transaction whose process hangs, so that it does not hold a segment's lock for ever. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** An SQL statement; it is prepared under its name once per connection, so names must be unique. */
export function statement(name: string, text: string): { name: string; text: string } {
  return { name, text };
}

type Statement = ReturnType<typeof statement>;

/** A pool of connections to Postgres. Every method throws PackhouseErrors only (see databaseError). */
export interface Connections {
  readonly connectionString: string;
  readonly config: pg.ClientConfig;
  /** Runs one statement on any free connection. */
  query<R extends object>(statement: Statement, values: readonly unknown[]): Promise<R[]>;
  /** Runs `work` in one transaction (read committed); rolls back if it throws. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Runs `work` on one connection without a transaction. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Closes the connections once their work is done. */
  close(): Promise<void>;
}

/** One connection, reserved for the caller. */
export interface Session {
  client: pg.PoolClient;
  query<R extends object>(statement: Statement, values: readonly unknown[]): Promise<R[]>;
}

const types: pg.CustomTypesConfig = {
  // Block numbers, sizes and counts stay below 2^53; the driver's default for int8 is text.
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
};

/** Creates a pool of connections; it connects at the first statement and again after a loss. */
export function createConnections(options: {
  connectionString: string;
  context: Context;
  poolSize?: number | undefined;
  applicationName: string;
}): Connections {
  const { connectionString, context } = options;
  const config: pg.ClientConfig = {
    connectionString,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    types,
  };
  const pool = new pg.Pool({ ...config, max: options.poolSize ?? DEFAULT_POOL_SIZE });
  // Without listeners a broken connection would end the process. The caller gets the error anyway.
  pool.on('error', (error) => {
    context.logger.warn({ reason: error.message, address }, 'an idle database connection was lost');
  });
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  const address = databaseAddress(connectionString);
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
      try {
        const result = await work({
          client,
          query: async <R extends object>({ name, text }: Statement, values: readonly unknown[]) =>
            (await client.query<R>({ name, text, values: [...values] })).rows,
        });
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

  return {
    connectionString,
    config,
    session,
    query: ({ name, text }, values) =>
      mapped(async () => {
        const result = await pool.query({ name, text, values: [...values] });
        return result.rows;
      }),
    transaction: (work) =>
      session(async (inner) => {
        await inner.client.query('BEGIN');
        try {
          const result = await work(inner);
          await inner.client.query('COMMIT');
          return result;
        } catch (error) {
          if (isPackhouseError(error)) await inner.client.query('ROLLBACK');
          throw error;
        }
      }),
    close: () => mapped(() => pool.end()),
  };
}
