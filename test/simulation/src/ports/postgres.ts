import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type LocalPostgres, startPostgres } from '@packhouse/local';
import pg from 'pg';

/** A Postgres of the simulation's own. */
export interface SimulatedPostgres {
  /** The server itself, past all proxies. */
  readonly url: string;
  readonly port: number;
  /** Runs one statement past all proxies. */
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Ends the connections of a share of those that go through a proxy, chosen by `draw`. Returns how many. */
  terminate(share: number, draw: () => number): Promise<number>;
  restart(how: 'fast' | 'immediate' | 'kill'): Promise<void>;
  /** Holds a lock that every writer needs, for so long. */
  holdLocks(ms: number): Promise<void>;
  /** Takes two locks in the order that makes a deadlock with whoever stages or publishes. */
  deadlock(): Promise<void>;
  stop(): Promise<void>;
}

/** Processes are told apart from the simulation's own connections by this name. */
export const OWN_NAME = 'simulation';

/** Nothing here outlives the machine, but what was acknowledged has to outlive the server. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB', max_connections: '200' };

/** Starts the server. */
export async function startSimulatedPostgres(directory: string): Promise<SimulatedPostgres> {
  const home = path.join(directory, 'postgres');
  await mkdir(home, { recursive: true, mode: 0o755 });
  const options = { directory: home, settings: SETTINGS };
  let server: LocalPostgres = await startPostgres(options);
  const { url } = server;
  const port = Number(new URL(url).port);
  let busy: Promise<void> = Promise.resolve();

  const connected = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({
      connectionString: url,
      application_name: OWN_NAME,
      connectionTimeoutMillis: 30_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const sql = <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
    connected(async (client) => (await client.query(text, values)).rows as Row[]);

  return {
    url,
    port,
    sql,
    async terminate(share, draw) {
      const rows = await sql<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name <> $1 ORDER BY pid',
        [OWN_NAME],
      );
      const chosen = rows.filter(() => draw() < share).map((row) => row.pid);
      await sql('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [chosen]);
      return chosen.length;
    },
    restart(how) {
      busy = busy.then(async () => {
        if (how === 'fast') await server.stop();
        else process.kill(server.pid, how === 'kill' ? 'SIGKILL' : 'SIGQUIT');
        await server.ended;
        server = await startPostgres({ ...options, port });
      });
      return busy;
    },
    holdLocks: (ms) =>
      connected(async (client) => {
        await client.query('BEGIN');
        await client.query('LOCK TABLE packhouse.bundle, packhouse.head IN SHARE ROW EXCLUSIVE MODE');
        await new Promise((resolve) => setTimeout(resolve, ms));
        await client.query('ROLLBACK');
      }),
    deadlock: () =>
      connected(async (client) => {
        await client.query('BEGIN');
        await client.query('LOCK TABLE packhouse.published, packhouse.fragment IN SHARE ROW EXCLUSIVE MODE');
        await new Promise((resolve) => setTimeout(resolve, 200));
        await client.query('LOCK TABLE packhouse.bundle, packhouse.staged_block IN ACCESS EXCLUSIVE MODE');
        await client.query('ROLLBACK');
      }),
    async stop() {
      await busy.catch(() => undefined);
      await server.stop();
    },
  };
}
