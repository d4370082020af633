import { setTimeout as sleep } from 'node:timers/promises';
import { PackhouseError, POSTGRES_KEEP_ALIVE, POSTGRES_SESSION } from '@packhouse/runtime';
import { createPostgresBackend, runMigrations, SchemaVersionMismatchError } from 'bullmq';
import pg from 'pg';
import { type Backend, type BackendOptions, queueUnavailable, toAddress } from './backend.js';
import { bullConsumer, bullProducer, CLOSE_MS, closeWithin } from './bull.js';
import { createTableKeeper, saysMissing, type TableKeeper } from './keep-tables.js';

/** The schema of BullMQ's tables, which BullMQ versions itself. */
const SCHEMA = 'bullmq';
/** Connections of one pool; a worker's pool uses one of them for LISTEN. */
const MAX_CONNECTIONS = 4;
const CONNECT_MS = 10_000;
/** For an answer: BullMQ's statements take milliseconds. Without it, a lost one is waited for a quarter of an hour. */
const ANSWER_MS = 20_000;
/** Of every connection. Not as a parameter of its start, which PgBouncer refuses. */
const SET_UP = { text: `SET search_path = ${SCHEMA}; ${POSTGRES_SESSION}`, query_timeout: CONNECT_MS };
/** How long a connection stays open without work: BullMQ looks every few seconds, and a new connection costs more. */
const IDLE_MS = 60_000;
/**
 * $1 queue. BullMQ asks for each state by itself, and a planner asks every second: in one statement they are also of
 * one moment. Each part has an index of its own.
 */
const SELECT_PENDING = {
  name: 'packhouse/select-pending',
  text: ['waiting', 'delayed', 'active']
    .map((state) => `SELECT id FROM job WHERE queue = $1 AND state = '${state}'`)
    .join(' UNION ALL '),
};
const CONSUMER_TRIES = 5;
const CONSUMER_PAUSE_MS = 400;

/**
 * Stores jobs in Postgres 14 or later; tables dropped while it runs are created again. Throws QUEUE_UNAVAILABLE if
 * Postgres does not answer now, DATABASE_NEWER.
 */
export async function openPostgresBackend(url: string, options: BackendOptions): Promise<Backend> {
  const address = toAddress(url);
  const pools = new Set<pg.Pool>();
  const open = (): pg.Pool => {
    const pool = openPool(url, options.onError, () => keeper);
    pools.add(pool);
    return pool;
  };
  const end = async (pool: pg.Pool): Promise<void> => {
    if (pools.delete(pool)) await closeWithin(CLOSE_MS, pool.end(), () => undefined);
  };

  let keeper: TableKeeper | undefined;
  const producing = open();
  try {
    if (!options.readOnly) {
      await migrate(producing, address);
      const made = createTableKeeper({ pool: producing, schema: SCHEMA, onRestored: options.onError });
      await made.remember();
      keeper = made;
    }
  } catch (error) {
    await end(producing);
    throw error;
  }
  // Postgres has no key prefix: it is part of the queue's name.
  const parts = (connection: pg.Pool, queue: string) => ({
    connection,
    factory: createPostgresBackend,
    name: `${options.prefix}-${queue}`,
    options: { ...options, abandon: () => void end(connection) },
  });

  return {
    address,
    producer: (queue) => {
      const own = parts(producing, queue);
      const pendingIds = async (): Promise<string[]> => {
        const { rows } = await producing.query<{ id: string }>({ ...SELECT_PENDING, values: [own.name] });
        return rows.map(({ id }) => id);
      };
      return bullProducer({ ...own, pendingIds });
    },
    consumer: async (queue, concurrency, events) => {
      for (let tries = 1; ; tries++) {
        const pool = open();
        try {
          const consumer = await bullConsumer(parts(pool, queue), concurrency, events);
          return {
            close: async () => {
              await consumer.close();
              await end(pool);
            },
          };
        } catch (error) {
          await end(pool);
          // The tables were dropped just now: the first caller that misses them creates them again.
          if (tries === CONSUMER_TRIES || !saysMissing(error)) throw error;
          if (!(await keeper?.restore(error))) await sleep(CONSUMER_PAUSE_MS);
        }
      }
    },
    close: async () => {
      await Promise.all([...pools].map(end));
    },
  };
}

async function migrate(pool: pg.Pool, address: string): Promise<void> {
  try {
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
  } catch (error) {
    if (error instanceof SchemaVersionMismatchError) {
      throw new PackhouseError({
        code: 'DATABASE_NEWER',
        message: `The queue tables at ${address} were written by a newer version of Packhouse.`,
        hint: 'Run the newer version, or give this one a database of its own.',
        cause: error,
      });
    }
    throw queueUnavailable('Postgres', address, error);
  }
}

/**
 * A connection that breaks while it is checked out (BullMQ does this to create its tables) emits an event without a
 * listener, which would end the process. The caller gets the error anyway. BullMQ also removes all listeners from a
 * connection before it ends it.
 */
class GuardedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }

  override removeAllListeners(event?: string | symbol): this {
    super.removeAllListeners(event);
    if (event === undefined || event === 'error') this.on('error', () => undefined);
    return this;
  }
}

function openPool(
  url: string,
  onError: (error: Error) => void,
  keeper: () => TableKeeper | undefined,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    ...POSTGRES_KEEP_ALIVE,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    idleTimeoutMillis: IDLE_MS,
    application_name: 'packhouse-queue',
    Client: GuardedClient,
    onConnect: (client) => client.query(SET_UP),
  });
  pool.on('error', onError);
  type Text = string | pg.QueryConfig;
  const query = pool.query.bind(pool) as (text: Text, values?: unknown[]) => Promise<pg.QueryResult>;
  pool.query = (async (text: Text, values?: unknown[]) => {
    try {
      return await query(text, values);
    } catch (error) {
      try {
        if (await keeper()?.restore(error)) return await query(text, values);
      } catch (again) {
        throw asConnectionError(again);
      }
      throw asConnectionError(error);
    }
  }) as typeof pool.query;
  return pool;
}

/** Codes of a restarting server: shutting down, starting up, lost during a query, or no free connection. */
const RESTARTING = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
]);

/** BullMQ pauses before a retry on ECONNREFUSED only; on any other error it would retry without a pause. */
function asConnectionError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = (error as Error & { code?: string }).code ?? '';
  const lost = code.startsWith('08') || /^Connection terminated|timeout/i.test(error.message);
  const dropped = lost || RESTARTING.has(code) || saysMissing(error);
  return dropped
    ? Object.assign(new Error(error.message, { cause: error }), { code: 'ECONNREFUSED' })
    : error;
}
