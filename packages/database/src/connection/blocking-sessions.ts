import type { Context } from '@packhouse/runtime';
import { type Connections, statement } from './connections.js';

/** A session that holds a lock others wait for and from which nothing came for so long is ended, in milliseconds. */
const SILENT_MS = 10_000;

/** A session that holds a lock others wait for, while it waits for its own process. */
interface BlockingSession {
  pid: number;
  application: string;
  /** Address of its process, as Postgres sees it; null: a socket of the same machine. */
  address: string | null;
  /** Sessions of Packhouse that wait for it. */
  waiting: number;
  /** Changes with everything that the session does or receives. */
  mark: string;
}

/** Sessions behind which sessions of Packhouse wait. One in the middle of a COPY shows by its bytes whether more came. */
const selectBlocking = statement(
  'sessions/select-blocking',
  `SELECT b.pid, b.application_name AS application, host(b.client_addr) AS address, count(*)::int4 AS waiting,
     concat_ws(' ', b.backend_start, b.query_start, b.state_change, max(c.bytes_processed)) AS mark
   FROM pg_stat_activity AS w
   CROSS JOIN LATERAL (SELECT DISTINCT pid FROM unnest(pg_blocking_pids(w.pid)) AS pid) AS blocking
   JOIN pg_stat_activity AS b ON b.pid = blocking.pid
   LEFT JOIN pg_stat_progress_copy AS c ON c.pid = b.pid
   WHERE w.datname = current_database() AND w.wait_event_type = 'Lock' AND w.application_name LIKE 'packhouse%'
     AND b.wait_event = 'ClientRead'
   GROUP BY b.pid, b.application_name, b.client_addr, b.backend_start, b.query_start, b.state_change
   ORDER BY b.pid`,
);

/** $1 pid. Raises if the role may not. */
const terminate = statement('sessions/terminate', 'SELECT pg_terminate_backend($1) AS ended');

/**
 * Makes a check for sessions that hold up others and whose process is silent: it hangs, or its machine vanished in the
 * middle of a COPY. To be repeated every few seconds. A session of Packhouse is ended; its job is done again. Any
 * other, and one that may not be ended, is named in the log. Returns how many were left.
 */
export function createBlockingCheck(connections: Connections, context: Context): () => Promise<number> {
  const { clock, logger, metrics } = context;
  let seen = new Map<number, { mark: string; sinceMs: number; told: boolean }>();
  const ends = ({ pid, application }: BlockingSession): Promise<boolean> =>
    application.startsWith('packhouse')
      ? connections.query(terminate, [pid]).then(
          () => true,
          () => false,
        )
      : Promise.resolve(false);

  return async () => {
    const now = clock.elapsed();
    const before = seen;
    seen = new Map();
    let left = 0;
    for (const session of await connections.query<BlockingSession>(selectBlocking, [])) {
      const { mark, ...shown } = session;
      const known = before.get(session.pid);
      const same = known?.mark === mark ? known : { mark, sinceMs: now, told: false };
      seen.set(session.pid, same);
      if (now - same.sinceMs < SILENT_MS) continue;
      if (await ends(session)) {
        logger.warn({ session: shown }, 'a session in Postgres held a lock and was silent; it is ended');
        const help = 'Silent sessions in Postgres that were ended because others waited';
        metrics.count('packhouse_sessions_ended_total', help, {});
        continue;
      }
      left += 1;
      if (!same.told)
        logger.error(
          { session: shown },
          'a session in Postgres holds a lock and is silent: end it by its pid',
        );
      same.told = true;
    }
    return left;
  };
}
