import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDatabase, type Database } from '@packhouse/database';
import { freshDatabase, runSql } from '@packhouse/local';
import { type Clock, type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';

/** A request as a receiver got it. */
export interface Posted {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Opens what both stages have: Postgres with networks, and a receiver by HTTP. */
export async function openStage<P extends Posted>(
  postgresUrl: string,
  given: {
    networks: readonly string[];
    /** Pauses are no longer, in milliseconds, so that nothing is waited for. */
    maxPauseMs: number;
    /** The date; default: today. */
    now?: () => number;
    /** Lines of the log; without it nothing is logged. */
    logged?: string[];
    /** What is kept of a request. */
    toPosted(posted: Posted): P;
  },
) {
  const fresh = await freshDatabase(postgresUrl, { migrated: true });
  const closers: (() => Promise<unknown>)[] = [() => fresh.drop()];
  const onClose = (close: () => Promise<unknown>): void => void closers.unshift(close);
  const clock: Clock = {
    ...systemClock,
    now: given.now ?? systemClock.now,
    sleep: (ms, signal) => systemClock.sleep(Math.min(ms, given.maxPauseMs), signal),
  };
  const makeContext = (): { context: Context; stop: AbortController } => {
    const stop = new AbortController();
    const destination = { write: (line: string) => void given.logged?.push(line) };
    const level = given.logged === undefined ? 'silent' : 'debug';
    const logger = createLogger({ name: 'test', level, destination });
    return { stop, context: { logger, metrics: createMetrics(), clock, signal: stop.signal } };
  };
  const open = (context: Context): Database => {
    const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
    onClose(() => database.close());
    return database;
  };
  const database = open(makeContext().context);
  for (const id of given.networks) await database.networks.register({ id, chainId: 1 });

  const posted: P[] = [];
  let answer = (_: P, response: ServerResponse): unknown => response.writeHead(204).end();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const one = given.toPosted({ path: request.url ?? '', headers: request.headers, body });
      posted.push(one);
      answer(one, response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onClose(async () => {
    server.closeAllConnections();
    server.close();
  });

  return {
    database,
    databaseUrl: fresh.url,
    seal: await database.operators.seal(),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    makeContext,
    open,
    onClose,
    sql: (text: string) => runSql(fresh.url, text),
    setAnswer(next: typeof answer): void {
      answer = next;
    },
    async close(): Promise<void> {
      for (const close of closers.splice(0)) await close();
    },
  };
}
