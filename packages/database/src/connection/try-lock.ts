import type pg from 'pg';
import { type Connections, ended } from './connections.js';
import { limited } from './connector.js';
import { databaseError } from './database-error.js';

/** How often an idle connection is checked, and the time limit of the check. */
const CHECK_EVERY_MS = 15_000;
const CHECK_WITHIN_MS = 10_000;
/** How long the connection stays open without a lock: longer than loops wait before they try again. */
const KEEP_MS = 60_000;

/** $1 name. */
const TRY = "SELECT pg_try_advisory_lock(hashtextextended('packhouse:lock:' || $1, 0)) AS locked";
/** $1 name. */
const UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('packhouse:lock:' || $1, 0))";

/** The connection that the locks of a process are on. */
interface LockSession {
  client: pg.Client;
  /** Of locks that are taken or requested: Postgres would give a session the same lock again. */
  names: Set<string>;
  /** Aborted when the connection is gone, and every lock with it. */
  lost: AbortController;
}

/**
 * Takes session locks, all on one connection beside the pool: a new connection costs the server
 * and the process some 2 ms of CPU each, and loops request locks every few seconds.
 *
 * A connection that breaks without an error (a machine that vanished) is detected by regular checks: Postgres gives
 * the locks to another session as soon as it notices the same.
 */
export function createTryLock(connections: Connections) {
  let opening: Promise<LockSession> | undefined;
  let idle: NodeJS.Timeout | undefined;

  const open = async (): Promise<LockSession> => {
    const client = await connections.connect();
    const session = { client, names: new Set<string>(), lost: new AbortController() };
    const checking = watch(client, () => void end(session));
    session.lost.signal.addEventListener('abort', () => clearInterval(checking));
    client.once('end', () => void end(session));
    return session;
  };
  /** Every lock of the session ends with its connection; an error of one that is already gone does not matter. */
  const end = async (session: LockSession): Promise<void> => {
    if (session.lost.signal.aborted) return;
    opening = undefined;
    clearTimeout(idle);
    session.lost.abort(new Error('the connection that held the lock is gone'));
    await ended(session.client.end().catch(() => {}));
  };
  const shared = (): Promise<LockSession> => {
    clearTimeout(idle);
    const found = opening ?? open();
    opening = found;
    found.catch(() => {
      if (opening === found) opening = undefined;
    });
    return found;
  };
  const forget = (session: LockSession, name: string): void => {
    session.names.delete(name);
    if (session.names.size > 0 || session.lost.signal.aborted) return;
    clearTimeout(idle);
    idle = setTimeout(() => void end(session), KEEP_MS).unref();
  };
  const unlock = async (session: LockSession, name: string): Promise<void> => {
    try {
      if (!session.lost.signal.aborted) {
        await session.client.query(limited({ text: UNLOCK, values: [name] }, CHECK_WITHIN_MS));
      }
    } catch {
      await end(session);
    }
    forget(session, name);
  };

  return {
    tryLock: async (name: string): Promise<{ release(): Promise<void>; lost: AbortSignal } | null> => {
      let session: LockSession | undefined;
      try {
        session = await shared();
        if (session.names.has(name)) return null;
        session.names.add(name);
        const { rows } = await session.client.query<{ locked: boolean }>(
          limited({ text: TRY, values: [name] }, CHECK_WITHIN_MS),
        );
        if (rows[0]?.locked !== true) {
          forget(session, name);
          return null;
        }
      } catch (error) {
        // Whether the lock was given is unknown.
        if (session !== undefined) await end(session);
        throw databaseError(error, connections.connectionString);
      }
      const own = session;
      const lost = new AbortController();
      const lose = (): void => lost.abort(new Error(`the lock "${name}" is not held any more`));
      if (own.lost.signal.aborted) lose();
      own.lost.signal.addEventListener('abort', lose);
      let released: Promise<void> | undefined;
      return {
        lost: lost.signal,
        release: () => {
          lose();
          own.lost.signal.removeEventListener('abort', lose);
          released ??= ended(unlock(own, name));
          return released;
        },
      };
    },
    close: async () => {
      const session = await opening?.catch(() => undefined);
      if (session !== undefined) await end(session);
    },
  };
}

/** Calls `fail` once the connection does not answer; ends with `clearInterval`. */
function watch(client: pg.Client, fail: () => void): NodeJS.Timeout {
  let answered = true;
  const check = setInterval(() => {
    if (!answered) return;
    answered = false;
    client.query(limited({ text: 'SELECT 1' }, CHECK_WITHIN_MS)).then(() => {
      answered = true;
    }, fail);
  }, CHECK_EVERY_MS);
  return check.unref();
}
