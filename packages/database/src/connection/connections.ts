import { type Context, isPackhouseError } from '@packhouse/runtime';
import type pg from 'pg';
import { type ConnectionLimits, createConnector, limited } from './connector.js';
import { databaseError } from './database-error.js';

/** How much longer a statement is waited for than the server works on it. */
const GRACE_MS = 500;
/** How long the end of a connection is waited for: a server that hangs does not take leave. */
const END_WITHIN_MS = 2_000;

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
  /** For tests: when a connection counts as silent, and how often that is checked. */
  silence?: { silentMs: number; everyMs: number };
}) {
  const { connectionString, context, limits } = options;
  const connector = createConnector({ ...options, limits });
  const pool = connector.pool(context, options.poolSize);
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
    /** Makes a connection beside the pool, with the same settings; the caller ends it. */
    connect: connector.client,
    /**
     * Rises when a connection reaches another database than the one before: a server that was restarted, a promoted standby, a
     * restored backup. It may lack what was committed, see createMemory.
     */
    incarnation: connector.incarnation,
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

const toQueryOne =
  (query: Query): QueryOne =>
  async <R extends object>(statement: Statement, values: readonly unknown[]) =>
    (await query<R>(statement, values))[0] ?? null;

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
