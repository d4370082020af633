import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type Connections, ended, statement } from './connections.js';
import { limited } from './connector.js';
import { databaseError } from './database-error.js';
import { destroy } from './end-silent.js';

/** How long a lease lasts without renewal, by the clock of Postgres, and how often all of a process are renewed. */
const LEASE_MS = 20_000;
const RENEW_EVERY_MS = 5_000;
/** Of a lease, how much its holder does not use: it stops before another may begin. */
const UNUSED_PART = 0.1;
/** Limit of one request for a lease. */
const ANSWER_WITHIN_MS = 10_000;
/** How long the connection stays open without a lease: longer than loops wait before they try again. */
const KEEP_MS = 60_000;

/** What a write needs that only the holder of a lease may do, see `packhouse.require_lease`. */
export interface Fence {
  name: string;
  holder: string;
  /** Rises each time the lease is taken. */
  token: number;
}

/** $1 to $3 of a fence: raises unless the lease is held. Last in a transaction, because it keeps others from taking it. */
export const requireLease = statement('leases/require', 'SELECT packhouse.require_lease($1, $2, $3)');

/** The arguments of `packhouse.require_lease`. */
export function fenceValues(fence: Fence | undefined): [string | null, string | null, number | null] {
  return [fence?.name ?? null, fence?.holder ?? null, fence?.token ?? null];
}

/** A lease that this process holds until `lost` is aborted. */
export interface Lock {
  release(): Promise<void>;
  lost: AbortSignal;
  fence: Fence;
}

/** The lock that shows that a holder's session lives; holders are never used again. */
const livesKey = (holder: string): string => `hashtextextended('packhouse:holder:' || ${holder}, 0)`;
/** A holder that was killed or cut off by its server is gone at once, any other when its lease expires. */
const HELD = `l.holder IS NOT NULL AND l.expires_at > clock_timestamp()
  AND NOT pg_try_advisory_xact_lock_shared(${livesKey('l.holder')})`;

/** $1 holder. */
const begin = statement('leases/begin', `SELECT pg_advisory_lock(${livesKey('$1::text')})`);

/** $1 name, $2 holder, $3 milliseconds. Writes nothing while another holds it; no row. */
const take = statement(
  'leases/take',
  `INSERT INTO packhouse.lease AS l (name, holder, token, expires_at)
   SELECT $1, $2::uuid, 1, clock_timestamp() + $3::int4 * interval '1 ms'
   WHERE NOT EXISTS (SELECT FROM packhouse.lease AS l WHERE l.name = $1 AND ${HELD})
   ON CONFLICT (name) DO UPDATE
     SET holder = excluded.holder, token = l.token + 1, expires_at = excluded.expires_at
     WHERE NOT (${HELD})
   RETURNING token`,
);

/** $1 holder, $2 milliseconds: all at once. One that has expired stays expired. */
const renew = statement(
  'leases/renew',
  `UPDATE packhouse.lease SET expires_at = clock_timestamp() + $2::int4 * interval '1 ms'
   WHERE holder = $1 AND expires_at > clock_timestamp() RETURNING name`,
);

/** $1 name, $2 holder. */
const giveBack = statement(
  'leases/give-back',
  `UPDATE packhouse.lease SET holder = NULL, expires_at = clock_timestamp() WHERE name = $1 AND holder = $2`,
);

/** $1 names. */
const selectLeases = statement(
  'leases/select',
  `SELECT name, holder IS NOT NULL AND expires_at > clock_timestamp() AS held, expires_at AS "expiresAt"
   FROM packhouse.lease WHERE name = ANY($1::text[])`,
);

/** The connection on which a process holds its leases. */
interface Session {
  client: pg.Client;
  holder: string;
  /** What ends each lease that is taken; undefined for one that is requested. */
  names: Map<string, (() => void) | undefined>;
  /** Aborted when the connection is gone or was not renewed in time, and every lease with it. */
  lost: AbortController;
  /** When the last request is answered: a connection of pg takes one at a time. */
  answered: Promise<unknown>;
}

/**
 * Takes leases, all of a process on one connection beside the pool: a new connection costs the server and the process
 * some 2 ms of CPU each, and loops request locks every few seconds.
 *
 * ```
 *            taken ──every 5 s──▶ renewed, all of a process in one statement
 *              │                     │ no answer for 18 s, by the holder's monotonic clock
 *              ▼                     ▼
 *   session ends: free      the holder stops ──at 20 s, by the clock of Postgres──▶ free; the next token is higher
 * ```
 */
export function createLeases(
  connections: Connections,
  { leaseMs = LEASE_MS, everyMs = RENEW_EVERY_MS } = {},
) {
  let opening: Promise<Session> | undefined;
  let idle: NodeJS.Timeout | undefined;

  const open = async (): Promise<Session> => {
    const client = await connections.connect();
    const session: Session = {
      client,
      holder: randomUUID(),
      names: new Map(),
      lost: new AbortController(),
      answered: Promise.resolve(),
    };
    client.once('end', () => void end(session));
    try {
      await ask(session, begin, [session.holder]);
    } catch (error) {
      await end(session);
      throw error;
    }
    const stop = keepRenewing(session, { leaseMs, everyMs }, () => void end(session));
    session.lost.signal.addEventListener('abort', stop);
    if (session.lost.signal.aborted) stop();
    return session;
  };
  /** Every lease of the session ends with its connection; an error of one that is already gone does not matter. */
  const end = async (session: Session): Promise<void> => {
    if (session.lost.signal.aborted) return;
    opening = undefined;
    clearTimeout(idle);
    session.lost.abort(new Error('the connection that held the leases is gone'));
    for (const lose of session.names.values()) lose?.();
    await ended(session.client.end().catch(() => {}));
    destroy(session.client, 'the server did not take leave');
  };
  const shared = (): Promise<Session> => {
    clearTimeout(idle);
    const found = opening ?? open();
    opening = found;
    found.catch(() => {
      if (opening === found) opening = undefined;
    });
    return found;
  };
  const forget = (session: Session, name: string): void => {
    session.names.delete(name);
    if (session.names.size > 0 || session.lost.signal.aborted) return;
    clearTimeout(idle);
    idle = setTimeout(() => void end(session), KEEP_MS).unref();
  };
  const letGo = async (session: Session, name: string): Promise<void> => {
    try {
      if (!session.lost.signal.aborted) await ask(session, giveBack, [name, session.holder]);
    } catch {
      await end(session);
    }
    forget(session, name);
  };

  return {
    /** Takes the lease `name`; null if another has it, also one of this process. */
    tryLock: async (name: string): Promise<Lock | null> => {
      let session: Session | undefined;
      try {
        session = await shared();
        if (session.names.has(name)) return null;
        session.names.set(name, undefined);
        const rows = await ask<{ token: number }>(session, take, [name, session.holder, leaseMs]);
        if (rows[0] !== undefined) return toLock(session, name, rows[0].token, letGo);
        forget(session, name);
        return null;
      } catch (error) {
        // Whether the lease was given is unknown.
        if (session !== undefined) await end(session);
        throw databaseError(error, connections.connectionString);
      }
    },
    /** Those of these leases that were ever taken. `expiresAt` of one that is not held: since when. */
    list: (names: readonly string[]) =>
      connections.query<{ name: string; held: boolean; expiresAt: Date }>(selectLeases, [names]),
    close: async () => {
      const session = await opening?.catch(() => undefined);
      if (session !== undefined) await end(session);
    },
  };
}

function toLock(
  session: Session,
  name: string,
  token: number,
  letGo: (session: Session, name: string) => Promise<void>,
): Lock {
  const lost = new AbortController();
  const lose = (): void => lost.abort(new Error(`the lock "${name}" is not held any more`));
  session.names.set(name, lose);
  if (session.lost.signal.aborted) lose();
  let released: Promise<void> | undefined;
  return {
    fence: { name, holder: session.holder, token },
    lost: lost.signal,
    release: () => {
      lose();
      released ??= ended(letGo(session, name));
      return released;
    },
  };
}

async function ask<R extends object>(
  session: Session,
  query: ReturnType<typeof statement>,
  values: readonly unknown[],
  withinMs = ANSWER_WITHIN_MS,
): Promise<R[]> {
  const result = session.answered.then(() =>
    session.client.query<R>(limited({ ...query, values: [...values] }, withinMs)),
  );
  session.answered = result.catch(() => {});
  return (await result).rows;
}

/** Renews all leases of a session until the returned function is called. Calls `fail` if that fails or is late. */
function keepRenewing(
  session: Session,
  { leaseMs, everyMs }: { leaseMs: number; everyMs: number },
  fail: () => void,
): () => void {
  const holdMs = leaseMs * (1 - UNUSED_PART);
  // Counted from when a renewal is sent, so from before Postgres counts.
  let late = setTimeout(fail, holdMs).unref();
  let asking = false;
  const renewed = async (): Promise<void> => {
    const { holder, names } = session;
    const before = [...names].filter(([, lose]) => lose !== undefined);
    if (before.length === 0) return;
    const kept = await ask<{ name: string }>(session, renew, [holder, leaseMs], holdMs);
    const still = new Set(kept.map(({ name }) => name));
    for (const [name, lose] of before) if (!still.has(name)) lose?.();
  };
  const timer = setInterval(() => {
    if (asking) return;
    asking = true;
    const next = setTimeout(fail, holdMs).unref();
    renewed().then(
      () => {
        clearTimeout(late);
        late = next;
        asking = false;
      },
      () => {
        clearTimeout(next);
        fail();
      },
    );
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    clearTimeout(late);
  };
}
