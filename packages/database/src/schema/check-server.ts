import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { limited } from '../connection/connector.js';
import { databaseAddress, databaseError } from '../connection/database-error.js';

/** The first version with multiranges and DETACH CONCURRENTLY. */
const OLDEST_MAJOR = 14;
const CONNECT_MS = 10_000;
/** How long the second connection may take: a pool in session mode may have none to give. */
const SECOND_MS = 2_000;
/** How often each of two connections says where its statements run: others take connections in between. */
const ROUNDS = 3;

const WHERE = "SELECT pg_backend_pid() AS pid, current_setting('server_version_num')::int4 AS version";

interface Where {
  pid: number;
  version: number;
}

/**
 * Throws DATABASE_UNSUPPORTED if the server is too old, or if a pooler in transaction or statement mode is before it:
 * locks, settings and prepared statements of a session would be another's.
 */
export async function checkServer(connectionString: string): Promise<void> {
  const address = databaseAddress(connectionString);
  // Without settings: such a pooler would keep them for other programs.
  const [first, second] = [CONNECT_MS, SECOND_MS].map((connectionTimeoutMillis) => {
    const client = new pg.Client({
      connectionString,
      connectionTimeoutMillis,
      application_name: 'packhouse check',
    });
    client.on('error', () => {});
    return client;
  }) as [pg.Client, pg.Client];
  try {
    await first.connect();
    refuseOld((await where(first, CONNECT_MS)).version, address);
    if (await sharesSessions(first, second)) throw sharedSessions(address);
  } catch (error) {
    throw databaseError(error, connectionString);
  } finally {
    for (const client of [first, second]) client.end().catch(() => {});
  }
}

/** Throws DATABASE_UNSUPPORTED. `version` is the setting server_version_num. */
export function refuseOld(version: number, address: string): void {
  const major = Math.floor(version / 10_000);
  if (major >= OLDEST_MAJOR) return;
  throw new PackhouseError({
    code: 'DATABASE_UNSUPPORTED',
    message: `Postgres at ${address} has version ${major}, expected ${OLDEST_MAJOR} or newer.`,
    hint: 'Set DATABASE_URL to a newer server.',
    data: { expected: OLDEST_MAJOR, got: major },
  });
}

/**
 * Whether one connection's statements run in several sessions, or two connections' in one. A pooler gives the session
 * that was returned last or first; two statements in a row before another's meet both.
 */
async function sharesSessions(first: pg.Client, second: pg.Client): Promise<boolean> {
  try {
    await second.connect();
    const own = await where(first);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [client, expected] of [
        [first, true],
        [first, true],
        [second, false],
      ] as const) {
        if (((await where(client)).pid === own.pid) !== expected) return true;
      }
    }
    return false;
  } catch {
    // No second connection: then the first has a session of its own.
    return false;
  }
}

async function where(client: pg.Client, withinMs = SECOND_MS): Promise<Where> {
  const { rows } = await client.query<Where>(limited({ text: WHERE }, withinMs));
  return rows[0] as Where;
}

function sharedSessions(address: string): PackhouseError {
  return new PackhouseError({
    code: 'DATABASE_UNSUPPORTED',
    message: `The pooler at ${address} runs the statements of one connection in several sessions of Postgres, expected one session per connection.`,
    hint: 'Set pool_mode = session for this database in PgBouncer, or DATABASE_URL to Postgres itself.',
  });
}
