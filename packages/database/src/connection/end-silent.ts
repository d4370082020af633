import type { Socket } from 'node:net';
import type { Clock } from '@packhouse/runtime';
import type pg from 'pg';

/** How long nothing may pass on a connection with a statement under way before Postgres is asked about it. */
const SILENT_MS = 15_000;
const CHECK_EVERY_MS = 5_000;
const ASK_WITHIN_MS = 10_000;

/** $1 process ids: those that work; all others have answered, or wait for what this process sent. */
const SELECT_WORKING = `SELECT pid FROM pg_stat_activity
  WHERE pid = ANY($1::int4[]) AND state = 'active' AND wait_event IS DISTINCT FROM 'ClientRead'`;

/** What the driver does not declare. */
type Inner = pg.ClientBase & { readyForQuery: boolean; connection: { stream: Socket } };

/** What has passed on a connection, and since when nothing has. */
interface Traffic {
  pid: number;
  bytes: number;
  sinceMs: number;
}

/**
 * Ends connections whose statement or its answer was lost on the way: without an error, TCP waits a quarter of an hour.
 *
 * How long a statement may take is unknown, so nothing is ended because it is slow: a new connection asks Postgres
 * whether it still works on it. COPY is watched like any statement.
 */
export function createSilenceWatch(parts: {
  clock: Clock;
  /** Makes a connection for one question. */
  connect: () => Promise<pg.Client>;
  silentMs?: number;
  everyMs?: number;
}) {
  const { clock, silentMs = SILENT_MS } = parts;
  const watched = new Map<Inner, Traffic>();
  let timer: NodeJS.Timeout | undefined;
  let asking = false;

  const check = async (): Promise<void> => {
    const now = clock.elapsed();
    const silent: Inner[] = [];
    for (const [client, traffic] of watched) {
      const bytes = passed(client);
      if (client.readyForQuery || bytes !== traffic.bytes) Object.assign(traffic, { bytes, sinceMs: now });
      else if (now - traffic.sinceMs >= silentMs) silent.push(client);
    }
    if (silent.length === 0) return;
    const before = silent.map(passed);
    const pids = silent.map((client) => watched.get(client)?.pid ?? 0);
    const working = await selectWorking(parts.connect, pids);
    silent.forEach((client, at) => {
      if (client.readyForQuery || passed(client) !== before[at]) return;
      if (working.has(pids[at] as number))
        Object.assign(watched.get(client) ?? {}, { sinceMs: clock.elapsed() });
      else destroy(client, 'the statement or its answer was lost on the way');
    });
  };

  return {
    /** Watches a connection, whose process in Postgres is `pid`, until it ends. */
    add(client: pg.ClientBase, pid: number): void {
      const inner = client as Inner;
      watched.set(inner, { pid, bytes: passed(inner), sinceMs: clock.elapsed() });
      inner.connection.stream.once('close', () => {
        watched.delete(inner);
        if (watched.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      timer ??= setInterval(() => {
        if (asking) return;
        asking = true;
        // While Postgres cannot be asked nothing is known; it is asked again.
        check()
          .catch(() => undefined)
          .finally(() => {
            asking = false;
          });
      }, parts.everyMs ?? CHECK_EVERY_MS).unref();
    },
  };
}

async function selectWorking(
  connect: () => Promise<pg.Client>,
  pids: readonly number[],
): Promise<ReadonlySet<number>> {
  const client = await connect();
  try {
    const query = { text: SELECT_WORKING, values: [pids], query_timeout: ASK_WITHIN_MS };
    return new Set((await client.query<{ pid: number }>(query)).rows.map(({ pid }) => pid));
  } finally {
    client.end().catch(() => undefined);
  }
}

const passed = ({ connection: { stream } }: Inner): number => stream.bytesRead + stream.bytesWritten;

/** Closes a connection at once: the driver would wait for the server's leave. What waits on it fails. */
export function destroy(client: pg.ClientBase, why: string): void {
  (client as Inner).connection.stream.destroy(new Error(why));
}
