/**
 * A TCP proxy that understands just enough of the Postgres protocol to hit single statements:
 *
 *   process ──Q or P…S──▶ onStatement ──▶ pass          ──▶ server ──▶ answer ──▶ process
 *                                     ├─▶ cut before    : both sides are cut, the server never hears of it
 *                                     ├─▶ cut after     : the server does it, the process never hears of that
 *                                     └─▶ error (code)  : a statement that raises the code takes its place, so that
 *                                                         the server itself answers and its transaction is undone
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createFramer, type Frame, getStatement, queryMessage } from './postgres-frames.js';

/** What happens to a statement. */
export type StatementFate =
  | { do: 'pass'; after?: () => void }
  | { do: 'cut'; when: 'before' | 'after' }
  | { do: 'error'; code: string };

/** A running proxy. */
export interface PostgresProxy {
  readonly port: number;
  /** Cuts all connections. */
  cutAll(): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of a server on this machine. `onStatement` decides about each statement. */
export async function createPostgresProxy(
  target: { port: number },
  onStatement: (sql: string) => StatementFate,
): Promise<PostgresProxy> {
  const open = new Set<() => void>();
  const server = createServer((client) => {
    const upstream = connect(target.port, '127.0.0.1');
    const cut = (): void => {
      open.delete(cut);
      client.destroy();
      upstream.destroy();
    };
    open.add(cut);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('error', cut);
      socket.on('close', cut);
    }
    join(client, upstream, cut, onStatement);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cutAll: () => {
      for (const cut of [...open]) cut();
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const cut of [...open]) cut();
      await closed;
    },
  };
}

/** Ends of an answer: ready for the next statement, or waiting for a COPY. */
const ANSWERED = new Set(['Z', 'G', 'H', 'W']);

function join(
  client: Socket,
  upstream: Socket,
  cut: () => void,
  onStatement: (sql: string) => StatementFate,
): void {
  const fromClient = createFramer('client');
  const fromServer = createFramer('server');
  /** Whether messages belong to a statement of which the first was seen already. */
  let inside = false;
  /** Messages up to the Sync are swallowed: something else took the statement's place. */
  let swallow: Buffer | undefined;
  let deaf = false;

  const relay = (frame: Frame): void => {
    const { type, bytes } = frame;
    if (swallow !== undefined) {
      if (type === 'S') {
        upstream.write(swallow);
        swallow = undefined;
      }
      return;
    }
    if (type === 'S') inside = false;
    const begins = type === 'Q' || ((type === 'P' || type === 'B') && !inside);
    if (!begins) {
      upstream.write(bytes);
      return;
    }
    inside = type !== 'Q';
    const fate = onStatement(getStatement(frame));
    if (fate.do === 'cut' && fate.when === 'before') {
      cut();
      return;
    }
    if (fate.do === 'error') {
      const raise = queryMessage(raising(fate.code));
      if (type === 'Q') upstream.write(raise);
      else {
        inside = false;
        swallow = raise;
      }
      return;
    }
    if (fate.do === 'cut') deaf = true;
    upstream.write(bytes);
    if (fate.do === 'pass') fate.after?.();
  };
  client.on('data', (chunk: Buffer) => {
    for (const frame of fromClient.push(chunk)) {
      if (upstream.destroyed) return;
      relay(frame);
    }
  });
  upstream.on('data', (chunk: Buffer) => {
    const frames = fromServer.push(chunk);
    if (!deaf) {
      for (const { bytes } of frames) client.write(bytes);
      return;
    }
    if (frames.some(({ type }) => ANSWERED.has(type))) cut();
  });
}

function raising(code: string): string {
  return `DO $$BEGIN RAISE EXCEPTION 'the simulation says so' USING ERRCODE = '${code}'; END$$`;
}
