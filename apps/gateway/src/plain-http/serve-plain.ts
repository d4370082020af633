import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { PlainConnection, type PlainLimits } from './plain-connection.js';

/** The plain connections of a server. */
export interface PlainConnections {
  closeIdle(): void;
  closeAll(): void;
}

/**
 * Has the plain requests of a server read here instead of by node:http, whose request, response and parser take two thirds
 * of the time of a small answer. Requests are emitted by the server as usual. Connections are handed to node:http with
 * their first request that is not plain. `refuseSlow` answers a request that took too long; `checkMs` is how often that
 * is looked for.
 */
export function servePlain(
  server: Server,
  { refuseSlow, checkMs }: { refuseSlow(socket: Socket): void; checkMs: number },
): PlainConnections {
  const open = new Set<PlainConnection>();
  const takers = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const limits: PlainLimits = {
    keepAlive: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1_000)}\r\n`,
    handOver: (socket) => {
      for (const take of takers) take.call(server, socket);
    },
    refuseSlow,
    left: (connection) => void open.delete(connection),
  };
  server.on('connection', (socket: Socket) => void open.add(new PlainConnection(socket, server, limits)));
  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of open) connection.checkTime(now);
  }, checkMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
  return {
    closeIdle: () => {
      for (const connection of open) if (connection.isIdle) connection.destroy();
    },
    closeAll: () => {
      for (const connection of open) connection.destroy();
    },
  };
}
